# SPDX-License-Identifier: GPL-3.0-or-later
"""3D-ICE's solid stacks, converted and run, beside the temperatures stored with them.

    git clone https://github.com/esl-epfl/3d-ice
    python3 bench/ice.py build/release/cli/thermix 3d-ice

Two cells each (a point of die 1, the corner of die 2): steady, and every step of 2 ms by backward Euler, as 3D-ICE steps.
"""

import pathlib
import subprocess
import sys
import tempfile

STEPS_PER_SLOT, STEP_S = 10, "0.002"
POINT_UM = {"die1": (5000, 4800), "die2": (0, 0)}
CELL_UM = (50, 200)


def call(*argv, cwd):
    subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def layers(folder):
    """Number of the layer that dissipates, by die."""
    lines = [line for line in (folder / "stack.lcf").read_text().split("\n") if line and line[0] != "#"]
    return {lines[i + 6][:-4]: int(lines[i]) for i in range(0, len(lines), 7) if lines[i + 2] == "Y"}


def fields(path, n_cell, wanted):
    """Temperatures of the wanted (layer, cell)s of every field in a file of fields."""
    found, layer, rows = [], None, {}
    for line in path.read_text().split("\n"):
        if line.startswith("Layer"):
            layer = int(line.split()[1].rstrip(":"))
        elif line and line[0].isdigit():
            cell, temp_k = line.split()
            if (layer, int(cell)) in wanted:
                rows[layer, int(cell)] = float(temp_k)
        if len(rows) == len(wanted):
            found.append([rows[w] for w in wanted])
            rows = {}
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    thermix, ice = (pathlib.Path(p).resolve() for p in sys.argv[1:])
    worst = {"steady": 0, "transient": 0}
    with tempfile.TemporaryDirectory() as temporary:
        for kind in worst:
            for sink in ("top", "bottom", "both"):
                folder = pathlib.Path(temporary) / f"{kind}-{sink}"
                call(thermix, "floorplan", "convert", f"solid/{kind}/{sink}sink.stk", "-o", folder, cwd=ice / "test")
                config = dict(line.split() for line in (folder / "stack.config").read_text().split("\n") if line[:1] == "-")
                rows, cols = int(config["-grid_rows"]), int(config["-grid_cols"])
                wanted = []
                for die, (x_um, y_um) in POINT_UM.items():
                    row = rows - 1 - int(y_um / CELL_UM[1])
                    wanted.append((layers(folder)[die], row * cols + int(x_um / CELL_UM[0])))
                common = [thermix, "thermal", "-c", "stack.config", "--network", "physical", "--precision", "6"]
                stored = [line.split()[1:] for line in (ice / f"test/solid/{kind}/output_{sink}.txt").read_text().split("\n") if line]
                if kind == "steady":
                    names, first, *_ = (folder / "stack.ptrace").read_text().splitlines(keepends=True)
                    (folder / "stack.ptrace").write_text(names + first)
                    call(*common, "-grid_steady_file", "out", "-steady_file", "blocks", cwd=folder)
                else:
                    names, *slots = (folder / "stack.ptrace").read_text().splitlines(keepends=True)
                    (folder / "stack.ptrace").write_text(names + "".join(s * STEPS_PER_SLOT for s in slots))
                    call(*common, "-grid_transient_file", "out", "-o", "blocks", "--method", "grid", "--scheme", "be",
                         "-sampling_intvl", STEP_S, cwd=folder)
                ours = fields(folder / "out", rows * cols, wanted)
                if len(ours) != len(stored):
                    sys.exit(f"{kind} {sink}: {len(ours)} fields, {len(stored)} stored")
                off = [max(abs(float(s[i]) - o[i]) for s, o in zip(stored, ours)) for i in range(2)]
                worst[kind] = max(worst[kind], *off)
                print(f"{kind:10} {sink:7} {len(ours):4} fields, largest difference {off[0]:.4f} K (die 1), {off[1]:.4f} K (die 2); "
                      f"last {ours[-1][0]:.3f} for {stored[-1][0]}, {ours[-1][1]:.3f} for {stored[-1][1]} K", flush=True)
    for kind, off in worst.items():
        print(f"ratio ice_{kind}_k {off:.4f}")


main()
