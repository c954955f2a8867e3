# SPDX-License-Identifier: GPL-3.0-or-later
"""Circuits of hard blocks (MCNC's ami33, ami49), floorplanned by HotSpot's hotfloorplan and by thermix with the same
weights: area, peak temperature and user CPU seconds, means over eight seeds.

    git clone https://github.com/uvahotspot/HotSpot
    python3 bench/circuits.py build/release/cli/thermix HotSpot ami49.block 60 5e6 [KMOVES[:LAMBDA_A] ...]

CIRCUIT.block has a block a line: name, width and height [um]. The blocks' watts are drawn: a density from 1 to 10 times
the lowest, uniform in its logarithm, seed 1, scaled to WATTS in all. LAMBDA_A weighs the area. hotfloorplan's one seed is in its source, which is compiled once a seed.
Schedule of both: Kmoves 1, Rcool 0.7, Nmax 12, which hotfloorplan ends in seconds; thermix has a row for each KMOVES (1) and the weight of area in it. Package: HotSpot's example 6
with a spreader of 80 mm, a sink of 120 mm and 0.3 K/W.
Both floorplans are then computed by `thermix thermal` on a grid of 64 x 64."""

import math
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

PACKAGE = {"s_spreader": 0.08, "s_sink": 0.12, "r_convec": 0.3}
SEEDS = range(1, 9)


def cpu_s(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr[-500:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def circuit(path, watts, folder):
    """blocks.desc and avg.p, and the blocks' area [mm2]."""
    blocks = [line.split() for line in path.read_text().split("\n") if len(line.split()) == 3 and line.split()[1][0].isdigit()]
    rng = random.Random(1)
    size = [(name, float(w) * 1e-6, float(h) * 1e-6) for name, w, h in blocks]
    power = [w * h * 10 ** rng.random() for _, w, h in size]
    (folder / "blocks.desc").write_text("".join(f"{n}\t{w * h:.10e}\t{h / w:.10f}\t{h / w:.10f}\t1\n" for n, w, h in size))
    (folder / "avg.p").write_text("".join(f"{n}\t{p * watts / sum(power):.6f}\n" for (n, _, _), p in zip(size, power)))
    return sum(w * h for _, w, h in size) * 1e6


def result(thermix, folder):
    """Area [mm2] and hottest block [K] of output.flp."""
    watts = dict(line.split() for line in (folder / "avg.p").read_text().split("\n") if line)
    rows = [line.split() for line in (folder / "output.flp").read_text().split("\n") if len(line.split()) >= 5 and line[0] != "#"]
    side = [max(float(r[1 + k]) + float(r[3 + k]) for r in rows) * 1e3 for k in (0, 1)]
    (folder / "o.ptrace").write_text("\t".join(r[0] for r in rows) + "\n" + "\t".join(watts.get(r[0], "0") for r in rows) + "\n")
    words = "-c example.config -f output.flp -p o.ptrace -model_type grid -grid_rows 64 -grid_cols 64 -steady_file o.steady --quiet"
    subprocess.run([thermix, "thermal", *words.split()], cwd=folder, check=True, capture_output=True)
    return side[0] * side[1], max(float(line.split()[1]) for line in (folder / "o.steady").read_text().split("\n") if len(line.split()) == 2)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    thermix, hotspot, file = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    rows_of = sys.argv[6:] or ["1"]
    rows = {}
    with tempfile.TemporaryDirectory() as temp:
        source, folder = pathlib.Path(temp) / "source", pathlib.Path(temp) / "work"
        shutil.copytree(hotspot, source, ignore=shutil.ignore_patterns(".git", "*.o", "hotspot", "hotfloorplan"))
        shutil.copytree(hotspot / "examples" / "example6", folder)
        config = (folder / "example.config").read_text()
        for key, value in PACKAGE.items():
            config = re.sub(rf"(?m)^(\s*-{key}\s+)\S+", rf"\g<1>{value}", config)
        (folder / "example.config").write_text(config)
        blocks_mm2 = circuit(file, float(sys.argv[4]), folder)
        schedule = {"lambdaA": sys.argv[5], "Rcool": "0.7", "Nmax": "12"}
        for seed in SEEDS:
            util = source / "util.h"
            util.write_text("".join(f"#define RAND_SEED {seed}\n" if line.startswith("#define RAND_SEED") else line for line in (hotspot / "util.h").open()))
            subprocess.run(["make", "-s", "clean", "hotfloorplan"], cwd=source, check=True, capture_output=True)
            words = [w for k, v in {**schedule, "Kmoves": "1"}.items() for w in ("-" + k, v)]
            s = cpu_s([source / "hotfloorplan", *"-c example.config -f blocks.desc -p avg.p -o output.flp".split(), *words], folder)
            rows.setdefault("hotfloorplan", []).append((*result(thermix, folder), s))
            for row in rows_of:
                k, _, weight = row.partition(":")
                words = [w for key, v in {**schedule, "Kmoves": k, "lambdaA": weight or sys.argv[5]}.items() for w in ("--set", f"{key}={v}")]
                s = cpu_s([thermix, *"floorplan optimise blocks.desc -c example.config -p avg.p -o output.flp --seed".split(), str(seed), *words], folder)
                rows.setdefault(f"thermix {row}", []).append((*result(thermix, folder), s))
    print(f"{file.stem}: blocks of {blocks_mm2:.3f} mm2; means over {len(SEEDS)} seeds, in brackets their standard errors")
    print(f"{'':20} {'area mm2':>16} {'peak K':>14} {'lowest peak K':>14} {'user CPU s':>11}")
    for name, of in rows.items():
        mean = [statistics.mean(v) for v in zip(*of)]
        error = [statistics.stdev(v) / math.sqrt(len(of)) for v in zip(*of)]
        lowest = min(peak for _, peak, _ in of)
        print(f"{name:20} {mean[0]:9.3f} ({error[0]:.3f}) {mean[1]:7.1f} ({error[1]:.1f}) {lowest:14.1f} {mean[2]:11.2f}")


main()
