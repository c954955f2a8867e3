# SPDX-License-Identifier: GPL-3.0-or-later
"""HotSpot's examples as shipped, by HotSpot and by thermix: user CPU seconds and the largest difference of their files.

    git clone https://github.com/uvahotspot/HotSpot && make -C HotSpot SUPERLU=1
    python3 bench/peers.py build/release/cli/thermix HotSpot [example1 ...]

Each example's run.sh runs twice in copies of its folder, the second time with `thermix thermal --hotspot-compat --scheme be` for
`hotspot` (exact in time for the block model) and `thermix floorplan optimise` for `hotfloorplan`. Example 6 has no difference: both anneal, and the row has the peaks of
their floorplans by the same grid. For 3D-ICE: bench/ice.py.
"""

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


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    thermix, hotspot = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
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
