# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the nodes of the studies lit-silicon and lit-silicon-several: lit_silicon_nodes.py THERMIX OUT_DIR

Eight MI300X whose constants are drawn from priors, uniform between what is plausible:

    floor of a board 90 to 180 W             its memory, links and regulators; 191 W at rest with memory filled (ROCm issue 5231)
    leakage at 70 degC 30 to 110 W           a V100's 33 W by die area, with its spread
    its exponent 0.010 to 0.036 /K           CACTI to HotSpot
    volts flat below 0.9 to 1.25 GHz         around the 1.115 to 1.230 GHz that AMD states for a GEMM at 750 W
    and above 15 to 100 % per GHz            a V100's 57 to 72 %
    room air 22 to 38 degC
    share of a step that follows the clock 0.6 to 1; watts of a GPU that waits, relative, 0.6 to 1
    spread: leakage 0.1 to 0.3, dynamic power 0 to 0.04, sink 0.11 to 0.22     388 V100s: 0.24, 0.024, 0.15 to 0.22

A node is kept if, at 750 W a board, its clocks differ by 5 to 7.5 % (6.2 % printed in section III-B of arXiv 2511.09861) and its temperatures
by 10 to 21 % (15.5 % printed), both of the fastest over the slowest. It has one straggler if the second slowest is more than 1 % faster than the
slowest. Nothing of the paper's Table III is looked at. The first 20 with one straggler become the study lit-silicon, those with several that were met on the way lit-silicon-several."""
import csv
import os
import random
import subprocess
import sys

THERMIX, OUT = sys.argv[1], sys.argv[2]
rng = random.Random(29)


def draw(i):
    u = rng.uniform
    e = u(0.6, 1)
    return {
        "chip_power.baseline_w": u(90, 180), "chip_power.leakage_w": u(30, 110), "chip_power.leakage_exp_per_k": u(0.010, 0.036),
        "chip_power.volt_knee_hz": u(0.9e9, 1.25e9), "chip_power.volt_per_ghz": u(0.15, 1.0), "package.ambient": 273.15 + u(22, 38),
        "sync_job.step_work_s": e, "sync_job.comm_s": 1 - e, "sync_job.wait_power": u(0.6, 1),
        "spread.leakage": u(0.1, 0.3), "spread.dynamic": u(0, 0.04), "spread.sink": u(0.11, 0.22), "spread.seed": i,
    }


def number(v):
    return str(v) if isinstance(v, int) else "%.6g" % v if abs(v) < 1e6 else "%.1f" % v


def look(node):
    sets = {**node, "package.init_temp": node["package.ambient"], "mix_policy.gain": 0.0, "mix_policy.node_w": 6000.0, "tick_s": 0.1,
            "warmup_s": 100.0, "sync_job.steps": 20}
    words = [w for k, v in sets.items() for w in ("--set", f"{k}={number(v)}")]
    out = os.path.join(OUT, "screen")
    if subprocess.run([THERMIX, "run", "lit-silicon", "--set", 'mix_policy.mode="shift"', *words, "-q", "-o", out], capture_output=True).returncode:
        return None
    speed = sorted(float(r["speed"]) for r in csv.DictReader(open(out + "/members.csv")))
    temp = [float(r["mean_temp_c"]) for r in csv.DictReader(open(out + "/gpus.csv"))]
    if not (1.05 < speed[-1] / speed[0] < 1.075 and 1.10 < max(temp) / min(temp) < 1.21 and max(temp) <= 105):
        return None
    return "one" if speed[1] / speed[0] > 1.01 else "several"


WAYS = """    # equal caps of 750 and 700 W; Red from 750, Realloc and Slosh from 700, Red from 700 W; then of 650, 600, 550, 500 W equal caps, Red, Realloc, Slosh
    { keys = ["mix_policy.mode", "mix_policy.gain", "mix_policy.start_w", "mix_policy.node_w", "mix_policy.max_w"];
      values = ( ("shift", 0.0, 0.0, 6000.0, 750.0), ("shift", 0.0, 0.0, 5600.0, 750.0), ("reduce", 0.8, 750.0, 6000.0, 750.0), ("realloc", 0.8, 700.0, 5600.0, 750.0), ("realloc", 0.8, 700.0, 5760.0, 750.0), ("reduce", 0.8, 700.0, 5600.0, 700.0),
                 ("shift", 0.0, 0.0, 5200.0, 750.0), ("reduce", 0.8, 650.0, 5200.0, 650.0), ("realloc", 0.8, 650.0, 5200.0, 750.0), ("realloc", 0.8, 650.0, 5360.0, 750.0),
                 ("shift", 0.0, 0.0, 4800.0, 750.0), ("reduce", 0.8, 600.0, 4800.0, 600.0), ("realloc", 0.8, 600.0, 4800.0, 750.0), ("realloc", 0.8, 600.0, 4960.0, 750.0),
                 ("shift", 0.0, 0.0, 4400.0, 750.0), ("reduce", 0.8, 550.0, 4400.0, 550.0), ("realloc", 0.8, 550.0, 4400.0, 750.0), ("realloc", 0.8, 550.0, 4560.0, 750.0),
                 ("shift", 0.0, 0.0, 4000.0, 750.0), ("reduce", 0.8, 500.0, 4000.0, 500.0), ("realloc", 0.8, 500.0, 4000.0, 750.0), ("realloc", 0.8, 500.0, 4160.0, 750.0) ); }
"""


def write(name, kind, nodes):
    keys = [*nodes[0], "package.init_temp"]
    rows = ",\n                 ".join("(" + ", ".join(number(v) for v in [*n.values(), n["package.ambient"]]) + ")" for n in nodes)
    with open(os.path.join(OUT, name + ".cfg"), "w") as f:
        f.write(f"# Twenty nodes of eight MI300X with {kind}, drawn from priors and kept for their clocks and temperatures at 750 W alone, before any\n"
                "# result of the study was known: examples/python/lit_silicon_nodes.py has the priors and drew them. docs/notes/lit-silicon.md reads it.\n"
                f'name = "{name}";\ndoc = "Lit Silicon (arXiv 2511.09861), Table III, on twenty drawn nodes with {kind}";\nbase = "../runs/lit-silicon.cfg";\n'
                f'axes = (\n    {{ keys = [{", ".join(chr(34) + k + chr(34) for k in keys)}];\n      values = ( {rows} ); }},\n{WAYS});\n')


kept = {"one": [], "several": []}
tried = 0
while len(kept["one"]) < 20 and tried < 8000:
    tried += 1
    node = draw(tried)
    kind = look(node)
    if kind:
        kept[kind].append(node)
        print(tried, {k: len(v) for k, v in kept.items()}, flush=True)
write("lit-silicon", "one straggler", kept["one"])
write("lit-silicon-several", "several stragglers", kept["several"][:20])
