# SPDX-License-Identifier: GPL-3.0-or-later
"""A run step by step: hottest and coldest SM, power and clock level over time, from arrays of the library.

    python3 step_by_step.py [--mix hot_cold] [--policy MU] [--set KEY=VALUE] [-o FOLDER]

Writes FOLDER/steps.csv and FOLDER/steps.svg (gnuplot).
"""

import argparse
import pathlib
import subprocess

import thermix


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mix", default="hot_cold")
    parser.add_argument("--policy", default="MU")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/python"))
    a = parser.parse_args()
    run = thermix.Run({"chip": "gtx280", "mix": a.mix, "policy": a.policy, "seed": 1, "tick_s": 0.01,
                       "warmup_s": 5.0}, a.set)
    temp_k, power_w = run.sm_sensed_k, run.unit_power_w  # look into the library: no copies, always now
    rows = ["time_s,hottest_c,coldest_c,power_w,level"]
    while not run.done:
        run.step(100)
        rows.append(f"{run.time_s:.2f},{temp_k.max() - 273.15:.3f},{temp_k.min() - 273.15:.3f},"
                    f"{power_w.sum():.2f},{run.gpu_level[0]:.0f}")
    a.out.mkdir(parents=True, exist_ok=True)
    (a.out / "steps.csv").write_text("\n".join(rows) + "\n")
    subprocess.run(["gnuplot"], check=True, text=True, input=f'''
set terminal svg size 900,400; set output "{a.out}/steps.svg"; set datafile separator ","; set key outside
set xlabel "time (s)"; set ylabel "sensed temperature (degC)"; set y2label "power (W)"; set y2tics; set y2range [0:*]
plot "{a.out}/steps.csv" every ::1 using 1:2 with lines title "hottest SM", \
     "" every ::1 using 1:3 with lines title "coldest SM", \
     "" every ::1 using 1:4 axes x1y2 with lines title "power"
''')
    metrics = run.metrics()
    print(f"{len(rows) - 1} rows; {metrics['energy_j']:.0f} J, peak {metrics['peak_temp_c']:.2f} degC")


if __name__ == "__main__":
    main()
