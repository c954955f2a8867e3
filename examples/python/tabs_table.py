# SPDX-License-Identifier: GPL-3.0-or-later
"""A table as of paper 003 (T^ABS) from a script: mixes under policies, and how much better they are than BL.

    python3 tabs_table.py [--mixes WL1,WL2] [--policies BL,DVFS,A] [--set tick_s=0.01] [-o FOLDER]

Writes FOLDER/table.csv, the same numbers as `thermix table` of a suite with these keys, and FOLDER/improvement.svg (gnuplot).
"""

import argparse
import csv
import pathlib
import subprocess

import thermix

# What every run has; constants and readings of paper 003 (workloads/suites/tabs/set.cfg) are --set options.
BASE = {"chip": "gtx280", "seed": 1, "tick_s": 0.001, "quantum_s": 0.05, "warmup_s": 200.0}
COLUMNS = ("slowdown_pct", "energy_j", "peak_temp_c", "makespan_s")


def words(text):
    return text.split(",")


def improvement_pct(ours, over):
    """100 (1 - ours / over); None where there is nothing to improve, at the paper's two decimals."""
    return 100 * (1 - ours / over) if abs(over) > 0.005 else None


def table(mixes, policies, sets):
    rows = []
    for mix in mixes:
        baseline = None
        for policy in policies:
            metrics = thermix.run({**BASE, "mix": mix, "policy": policy}, sets)
            baseline = metrics["slowdown_pct"] if policy == "BL" else baseline
            rows.append({"mix": mix, "policy": policy, **{c: metrics[c] for c in COLUMNS},
                         "improvement_over_bl_pct":
                             None if baseline is None else improvement_pct(metrics["slowdown_pct"], baseline)})
            print(f"{mix:5} {policy:5} slowdown {metrics['slowdown_pct']:6.2f} %, {metrics['energy_j']:9.0f} J")
    return rows


def draw(rows, mixes, policies, path):
    """A cluster of bars a mix, one a policy."""
    shown = [p for p in policies if p != "BL"]
    value = {(r["mix"], r["policy"]): r["improvement_over_bl_pct"] for r in rows}
    data = "".join(f'"{m}" ' + " ".join("nan" if value[m, p] is None else repr(value[m, p]) for p in shown) + "\n"
                   for m in mixes)
    bars = ", ".join(f'$data using {i + 2}:xtic(1) title "{p}"' for i, p in enumerate(shown))
    script = (f'$data << E\n{data}E\nset terminal svg size 900,400; set output "{path}"\n'
              'set style data histograms; set style fill solid 0.8; set yrange [0:*]; set key outside\n'
              f'set ylabel "improvement over BL (%)"\nplot {bars}\n')
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mixes", type=words, default=[f"WL{i}" for i in range(1, 11)])
    parser.add_argument("--policies", type=words, default=["BL", "DVFS", "A", "MU", "MNU", "MA"])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/python"))
    a = parser.parse_args()
    rows = table(a.mixes, a.policies, a.set)
    a.out.mkdir(parents=True, exist_ok=True)
    with open(a.out / "table.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, a.mixes, a.policies, a.out / "improvement.svg")


if __name__ == "__main__":
    main()
