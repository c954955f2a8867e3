# SPDX-License-Identifier: GPL-3.0-or-later
"""HotSpot's examples as shipped, by HotSpot and by thermix: user CPU seconds and the largest difference of their files.

    git clone https://github.com/uvahotspot/HotSpot && make -C HotSpot SUPERLU=1
    python3 bench/peers.py build/release/cli/thermix HotSpot [example1 ...]
    python3 bench/peers.py build/release/cli/thermix HotSpot --sizes [3d-ice] [--cells 32,64] [--rows 1,100]

Each example's run.sh runs twice in copies of its folder, the second time with `thermix thermal --hotspot-compat --scheme be` for
`hotspot` (exact in time for the block model) and `thermix floorplan optimise` for `hotfloorplan`. Example 6 has no difference: both anneal, and the row has the peaks of
their floorplans by the same grid. For 3D-ICE: bench/ice.py.

--sizes: one chip (golden case A, 33 blocks, rows of 10 ms) at several cells a side and rows, whole programs with an empty cache.
rows 0: the steady state. HotSpot has the chip's own package; 3D-ICE, which has none, has the die on paste and copper, four layers of one cell each, as a
stack that thermix converts. Both peers and `be` take one backward-Euler step a row; `default` is exact in time and chooses its method. What a
peer would take for more than a minute by the row before is `-`. Peers' BLAS and OpenMP have one thread: more spin, and are slower.
"""

import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile


def numbers(path):
    return [float(w) for w in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e[-+]\d+)?(?![\w.])", path.read_text())]


def run(script, folder, programs):
    """User CPU seconds of a run.sh whose programs are replaced."""
    text = re.sub(r"(?m)^.*\.\./scripts/.*$", "", (folder / script).read_text())  # figures
    for name, line in programs.items():
        text = re.sub(rf"(?m)^\s*\.\./\.\./{name}\b", line, text)
    (folder / script).write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(["bash", script], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{folder / script}: {done.stderr[-2000:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def peak(thermix, folder):
    """Hottest block [K] of output.flp under avg.p on a grid of 64 x 64."""
    watts = dict(line.split() for line in (folder / "avg.p").read_text().split("\n") if line.strip())
    blocks = [line.split()[0] for line in (folder / "output.flp").read_text().split("\n") if len(line.split()) >= 5 and line[0] != "#"]
    (folder / "o.ptrace").write_text("\t".join(blocks) + "\n" + "\t".join(watts.get(b, "0") for b in blocks) + "\n")
    words = "-c example.config -f output.flp -p o.ptrace -model_type grid -grid_rows 64 -grid_cols 64 -steady_file o.steady".split()
    subprocess.run([thermix, "thermal", *words, "--quiet"], cwd=folder, check=True, capture_output=True)
    return max(float(line.split()[1]) for line in (folder / "o.steady").read_text().split("\n") if len(line.split()) == 2)


def seconds(argv, folder):
    """Processor seconds and megabytes of a program; an empty cache."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryFile() as text:
        child = subprocess.Popen(list(map(str, argv)), cwd=folder, stdout=subprocess.DEVNULL, stderr=text, env=dict(os.environ, XDG_CACHE_HOME=cache, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        if child.returncode:
            sys.exit(f"{' '.join(map(str, argv))}\n{text.read().decode()[-2000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def stack_of(folder, cells, rows):
    """Golden case A's blocks and powers as a stack of 3D-ICE, whose layers are thin enough to have one cell each in thermix, too."""
    blocks = [line.split() for line in (folder / "chip.flp").read_text().splitlines() if line.strip() and line[0] != "#"]
    side = [max(float(b[i]) + float(b[i + 2]) for b in blocks) * 1e6 for i in (1, 2)]
    names, *powers = (line.split() for line in (folder / "power.ptrace").read_text().splitlines())
    plan = ""
    for name, w, h, x, y in (b[:5] for b in blocks):
        values = ", ".join(row[names.index(name)] for row in powers[: max(rows, 1)])
        plan += f"{name} :\n  position {float(x) * 1e6:.4f}, {float(y) * 1e6:.4f} ;\n  dimension {float(w) * 1e6:.4f}, {float(h) * 1e6:.4f} ;\n  power values {values} ;\n"
    (folder / "die.flp").write_text(plan)
    (folder / "chip.stk").write_text(f"""material silicon :
   thermal conductivity 1.3e-4 ;
   volumetric heat capacity 1.63e-12 ;
material grease :
   thermal conductivity 4e-6 ;
   volumetric heat capacity 4e-12 ;
material copper :
   thermal conductivity 4e-4 ;
   volumetric heat capacity 3.55e-12 ;
top heat sink :
   heat transfer coefficient {4 / (side[0] * side[1]):.6e} ;
   temperature 318.15 ;
dimensions :
   chip length {side[0]:.4f} , width {side[1]:.4f} ;
   cell length {side[0] / cells:.8f} , width {side[1] / cells:.8f} ;
layer copper_layer :
   height 150 ;
   material copper ;
layer grease_layer :
   height 20 ;
   material grease ;
die gpu :
   source 2 silicon ;
   layer 120 silicon ;
stack :
   layer plate copper_layer ;
   layer bond grease_layer ;
   die lowest gpu floorplan "die.flp" ;
solver :
   {"transient step 0.01, slot 0.01" if rows else "steady"} ;
   initial temperature 318.15 ;
output :
   Tflp ( lowest, "out.txt", average, {"step" if rows else "final"} ) ;
""")


def sizes(thermix, hotspot, words):
    ice = pathlib.Path(words[0]).resolve() / "bin" / "3D-ICE-Emulator" if words and words[0][:2] != "--" else None
    value = {a: [int(n) for n in b.split(",")] for a, b in zip(words, words[1:]) if a in ("--cells", "--rows")}
    golden = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "A_gt200"
    for peer in ("HotSpot", "3D-ICE") if ice else ("HotSpot",):
        print(" " * 12 * (peer == "HotSpot") + f" | {peer:>14} {'be':>14} {'default':>14}  ratio", end="")
    print("   processor s (MB); ratio: be / peer")
    for cells in value.get("--cells", [32, 64, 128, 256]):
        last = {}
        for rows in value.get("--rows", [1, 10, 100]):
            with tempfile.TemporaryDirectory() as temp:
                folder = pathlib.Path(temp)
                for f in ("case.config", "chip.flp", "power.ptrace"):
                    shutil.copy(golden / f, folder)
                (folder / "power.ptrace").write_text("\n".join((folder / "power.ptrace").read_text().splitlines()[: max(rows, 1) + 1]) + "\n")
                out = ["-o", "o.ttrace"] if rows else ["-steady_file", "o.steady"]
                grid = ["-grid_rows", cells, "-grid_cols", cells]
                own = [thermix, "thermal", "--quiet", "-c", "case.config", "-f", "chip.flp", "-p", "power.ptrace", *grid, *out]
                be = ["--method", "grid", "--scheme", "be", "--max-memory", "16000"]
                turns = {"HotSpot": ([hotspot / "hotspot", *own[3:]], folder), "be": (own + ["--hotspot-compat"] + be, folder), "default": (own, folder)}
                if ice:
                    stack_of(folder, cells, rows)
                    subprocess.run([thermix, "floorplan", "convert", "chip.stk", "-o", "ours"], cwd=folder, check=True, capture_output=True)
                    own = [thermix, "thermal", "--quiet", "-c", "stack.config", "--network", "physical", *out]
                    turns |= {"3D-ICE": ([ice, "chip.stk"], folder), "ice be": (own + be, folder / "ours"), "ice default": (own, folder / "ours")}
                for name, (argv, where) in turns.items():
                    steps = max(rows, 1) / last.get("rows", max(rows, 1)) if name == "HotSpot" else 1  # it factors at every step, 3D-ICE once
                    dear = name in ("HotSpot", "3D-ICE") and last.get(name, (0,))[0] * steps > 60
                    last[name] = (math.inf, 0) if dear else seconds(argv, where)
                last["rows"] = max(rows, 1)
            shown = {k: "-" if v[0] == math.inf else f"{v[0]:.3f} ({v[1]:.0f})" for k, v in last.items() if k != "rows"}
            line = f"{cells:6} {rows:5} | " + " ".join(f"{shown[k]:>14}" for k in ("HotSpot", "be", "default")) + f" {last['be'][0] / last['HotSpot'][0]:6.2f}"
            if ice:
                line += " | " + " ".join(f"{shown[k]:>14}" for k in ("3D-ICE", "ice be", "ice default")) + f" {last['ice be'][0] / last['3D-ICE'][0]:6.2f}"
            print(line, flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    thermix, hotspot = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    if "--sizes" in sys.argv:
        return sizes(thermix, hotspot, [w for w in sys.argv[3:] if w != "--sizes"])
    theirs = {"hotspot": hotspot / "hotspot", "hotfloorplan": hotspot / "hotfloorplan"}
    ours = {"hotspot": f"{thermix} thermal --hotspot-compat --scheme be --quiet", "hotfloorplan": f"{thermix} floorplan optimise"}
    names = sys.argv[3:] or sorted(p.parent.name for p in hotspot.glob("examples/*/run.sh"))
    print(f"{'example':10} {'HotSpot s':>10} {'thermix s':>10} {'largest difference K':>22}")
    for name in names:
        with tempfile.TemporaryDirectory() as temp:
            folder = [pathlib.Path(temp) / who / name for who in ("theirs", "ours")]
            for f in folder:
                shutil.copytree(hotspot / "examples" / name, f)
            text = (folder[1] / "run.sh").read_text()
            (folder[1] / "run.sh").write_text(text.replace("-f ev6.desc", "ev6.desc"))  # hotfloorplan names its input -f
            line = dict(ours)
            if "-model_type block" in text:  # by RK4 in every build of HotSpot
                line["hotspot"] = line["hotspot"].replace(" --scheme be", "")
            seconds = [run("run.sh", f, {k: str(v) for k, v in p.items()}) for f, p in zip(folder, (theirs, line))]
            if name == "example6":
                what = " and ".join(f"{peak(thermix, f):.2f}" for f in folder)
            else:
                pairs = [(numbers(a), numbers(folder[1] / a.relative_to(folder[0]))) for a in sorted((folder[0] / "outputs").iterdir()) if a.is_file()]
                bad = [1 for a, b in pairs if len(a) != len(b)]
                what = "files differ in length" if bad else f"{max(abs(x - y) for a, b in pairs for x, y in zip(a, b)):.4g}"
            print(f"{name:10} {seconds[0]:10.2f} {seconds[1]:10.2f} {what:>22}", flush=True)


main()
