# SPDX-License-Identifier: GPL-3.0-or-later
"""Your own policy in Python beside the built-in DVFS: clock levels by how far it is to a limit.

    python3 own_policy.py [--limit 85] [--set KEY=VALUE] [-o FOLDER]

Writes FOLDER/policies.csv and FOLDER/policies.svg (gnuplot).
"""

import argparse
import pathlib
import subprocess

import thermix


class Approach(thermix.policy.Dtm):
    """The nearer the limit, the slower the clock."""

    name = "approach"
    options = {"limit_c": 85.0, "band_k": 3.0}

    def decide(self, view, request):
        for gpu, ask, hottest_k in zip(view.gpus, request.gpus, view.hottest_k):
            near = 1 - (self.limit_c - (hottest_k - 273.15)) / self.band_k  # 0 a band below, 1 at the limit
            ask.level = round(min(1, max(0, near)) * (gpu.n_level - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--limit", type=float, default=85.0, metavar="DEGC")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/python"))
    a = parser.parse_args()
    base = {"chip": "gtx280", "mix": "hot_cold", "policy": "BL", "seed": 1, "tick_s": 0.01, "warmup_s": 5.0}
    rows = ["policy,time_s,hottest_c,level"]
    for name, group, policies in (("dvfs", {}, ()), ("approach", {"limit_c": a.limit}, [Approach()])):
        run = thermix.Run({**base, "dtm": {"policy": name, **group}}, a.set, policies=policies)
        while not run.step(100):
            rows.append(f"{name},{run.time_s:.2f},{run.sm_sensed_k.max() - 273.15:.3f},{run.gpu_level[0]:.0f}")
        m = run.metrics()
        print(f"{name:9} slowdown {m['slowdown_pct']:6.2f} %, peak {m['peak_temp_c']:6.2f} degC, {m['energy_j']:7.0f} J")
    a.out.mkdir(parents=True, exist_ok=True)
    (a.out / "policies.csv").write_text("\n".join(rows) + "\n")
    plots = ", ".join(f'"<grep ^{name}, {a.out}/policies.csv" using 2:3 with lines title "{name}"'
                      for name in ("dvfs", "approach"))
    subprocess.run(["gnuplot"], check=True, text=True, input=f'''
set terminal svg size 900,400; set output "{a.out}/policies.svg"; set datafile separator ","; set key outside
set xlabel "time (s)"; set ylabel "hottest sensor (degC)"
plot {plots}
''')


if __name__ == "__main__":
    main()
