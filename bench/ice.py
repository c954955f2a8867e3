# SPDX-License-Identifier: GPL-3.0-or-later
"""3D-ICE's own stacks, converted and run, beside the temperatures stored with them.

    git clone https://github.com/esl-epfl/3d-ice    # and, for its times: ./install-superlumt.sh && make
    python3 bench/ice.py build/release/cli/thermix 3d-ice [WORD]

Solid stacks, micro-channels (two- and four-resistor) and pin fins whose path has WORD in it. Two cells each (a point of die 1, the
corner of die 2): steady, and every step of 2 ms by backward Euler, as 3D-ICE steps. What is wanted: 0.05 K. Where 3D-ICE is built, both run whole and cold in turns: processor seconds, the least of two.
"""

import itertools
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

STEPS_PER_SLOT, STEP_S, TURNS = 10, "0.002", 2
ONE_THREAD = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # more spin, and are slower


def call(*argv, cwd):
    """Runs a program; its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ONE_THREAD)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, argv))}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def layers(folder):
    """Number of the layer that dissipates by die, and the key of channels if any layer has it."""
    lines = [line for line in (folder / "stack.lcf").read_text().split("\n") if line and line[0] != "#"]
    channels = next((line.split() for line in lines if line.startswith("channels")), None)
    lines = [line for line in lines if not line.startswith("channels")]
    return {lines[i + 6][:-4]: int(lines[i]) for i in range(0, len(lines), 7) if lines[i + 2] == "Y"}, channels


def column(x_m, width_m, cols, channels):
    """Column of the grid at x, and how many there are."""
    if not channels or channels[1] != "resolved":
        return int(x_m / width_m * cols + 1e-9), cols
    value = dict(zip(channels[2::2], channels[3::2]))
    width, pitch, first = (float(value[k]) for k in ("width", "pitch", "first"))
    n = round((width_m - first - float(value["last"]) + pitch - width) / pitch)
    ends = [first + (j // 2) * pitch + (j % 2) * width for j in range(2 * n)]
    return sum(end <= x_m + 1e-12 for end in ends), 2 * n + 1


def fields(path, wanted):
    """Temperatures of the wanted (layer, cell)s of every field in a file of fields."""
    found, layer, rows = [], None, {}
    with open(path) as text:
        for line in text:
            if line.startswith("Layer"):
                layer = int(line.split()[1].rstrip(":"))
            elif line[0].isdigit():
                cell, temp_k = line.split()
                if (layer, int(cell)) in wanted:
                    rows[layer, int(cell)] = float(temp_k)
            if len(rows) == len(wanted):
                found.append([rows[w] for w in wanted])
                rows = {}
    return found


def compare(thermix, test, stack, folder):
    """Largest difference [K] at both points, all fields, and thermix's seconds over 3D-ICE's (None: not built)."""
    call(thermix, "floorplan", "convert", stack, "-o", folder, cwd=test)
    steady = stack.parent.name == "steady"
    text = stack.read_text()
    points = re.findall(r"\bT\s*\(\s*(\w+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)", text)
    width_um, height_um = map(float, re.search(r"chip\s+length\s+([\d.]+)\s*,\s*width\s+([\d.]+)", text).groups())
    config = dict(line.split() for line in (folder / "stack.config").read_text().split("\n") if line[:1] == "-")
    rows, (number, channels) = int(config["-grid_rows"]), layers(folder)
    wanted = []
    for die, x_um, y_um in points:
        at, cols = column(1e-6 * float(x_um), 1e-6 * width_um, int(config.get("-grid_cols", 0)), channels)
        wanted.append((number[die], (rows - 1 - int(float(y_um) / height_um * rows + 1e-9)) * cols + at))
    common = [thermix, "thermal", "-c", "stack.config", "--network", "physical", "--precision", "6", "--no-cache"]
    names, *slots = (folder / "stack.ptrace").read_text().splitlines(keepends=True)
    emulator = test.parent / "bin" / "3D-ICE-Emulator"
    if steady:
        (folder / "stack.ptrace").write_text(names + slots[0])
        cells, words = ["-grid_steady_file", "out"], ["-steady_file", "blocks"]
    else:
        (folder / "stack.ptrace").write_text(names + "".join(s * STEPS_PER_SLOT for s in slots))
        cells, words = ["-grid_transient_file", "out"], ["-o", "blocks", "--method", "grid", "--scheme", "be", "-sampling_intvl", STEP_S]
    call(*common, *cells, *words, cwd=folder)
    ours_s, theirs_s = [], []
    for _ in range(TURNS if emulator.exists() else 0):  # neither writes fields of cells
        copy = folder / "theirs"  # it writes beside its input
        shutil.copytree(test, copy, dirs_exist_ok=True)
        theirs_s.append(call(emulator, stack.relative_to(test), cwd=copy))
        ours_s.append(call(*common, *words, cwd=folder))
    speed = min(ours_s) / min(theirs_s) if theirs_s else None
    kind = stack.stem.removesuffix("sink").removeprefix("2dies_")
    stored = [line.split()[1:] for line in (stack.parent / f"output_{kind}.txt").read_text().split("\n") if line]
    ours = fields(folder / "out", wanted)
    if len(ours) != len(stored):
        sys.exit(f"{stack}: {len(ours)} fields, {len(stored)} stored")
    off = [max(abs(float(s[i]) - o[i]) for s, o in zip(stored, ours)) for i in range(2)]
    print(f"{str(stack.relative_to(test)):42} {len(ours):4} fields, largest difference {off[0]:.4f} and {off[1]:.4f} K; "
          f"last {ours[-1][0]:.3f} for {stored[-1][0]}, {ours[-1][1]:.3f} for {stored[-1][1]} K"
          + (f"; {min(ours_s):.2f} s, 3D-ICE {min(theirs_s):.2f} s: {speed:.2f}" if theirs_s else ""), flush=True)
    return max(off), speed


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    thermix, ice = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    worst, slowest = {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        number = itertools.count()
        for kind in ("solid", "mc2rm", "mc4rm", "pf2rm"):
            for stack in sorted((ice / "test" / kind).glob("*/*.stk")):
                if len(sys.argv) == 4 and sys.argv[3] not in str(stack.relative_to(ice)):
                    continue
                off, speed = compare(thermix, ice / "test", stack, pathlib.Path(temporary) / str(next(number)))
                worst[stack.parent.name] = max(worst.get(stack.parent.name, 0), off)
                slowest[stack.parent.name] = max(slowest.get(stack.parent.name, 0), speed or 0)
    for kind, off in worst.items():
        print(f"ratio ice_{kind}_k {off:.4f}")
        if slowest[kind]:
            print(f"ratio ice_{kind}_over_3d_ice {slowest[kind]:.2f}")


main()
