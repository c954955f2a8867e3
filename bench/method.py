# SPDX-License-Identifier: GPL-3.0-or-later
"""Does `thermix thermal --method auto` take the cheaper method? Golden A's chip (33 blocks), rows of 10 ms: processor
seconds and memory of the whole program by grid, reduced and auto, with an empty cache, and by reduced with a filled one (warm).

    bench/method.py build/release/cli/thermix [--network physical] [--grid 64] [--rows 1,10,20] [--turns 3]

The least of the turns counts. What the grid would take for more than a minute is told from its slope (~). Lines
`ratio auto_ROWS VALUE`: auto over the better of the two.
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "A_gt200"
MINUTE = 60


def run(argv, cache):
    """Processor seconds, megabytes and messages of a command."""
    env = dict(os.environ, XDG_CACHE_HOME=str(cache))
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode()
    if child.returncode:
        sys.exit(" ".join(map(str, argv)) + "\n" + text)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text


def write_rows(path, n):
    names, *rows = (GOLDEN / "power.ptrace").read_text().splitlines(keepends=True)
    with open(path, "w") as f:
        f.write(names)
        f.writelines(itertools.islice(itertools.cycle(rows), n))


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)

    def command(self, method, n):
        power = self.folder / f"{n}.ptrace"
        if not power.exists():
            write_rows(power, n)
        a = self.args
        return [a.thermix, "thermal", "-v", "-c", GOLDEN / "case.config", "-f", GOLDEN / "chip.flp", "-p", power,
                "-o", self.folder / "out.ttrace", "-grid_rows", str(a.grid), "-grid_cols", str(a.grid),
                "--network", a.network, "--method", method]

    def best(self, method, n, warm=False):
        """The least time of all turns, with that run's memory and messages."""
        turns = []
        for _ in range(self.args.turns):
            with tempfile.TemporaryDirectory(dir=self.folder) as cold:
                turns.append(run(self.command(method, n), self.folder / "warm" if warm else cold))
        return min(turns)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("thermix")
    p.add_argument("--network", choices=["hotspot", "physical"], default="hotspot")
    p.add_argument("--grid", type=int, default=64, help="cells a side")
    p.add_argument("--rows", default="1,10,20,31,32,60,100,1000,10000,100000")
    p.add_argument("--turns", type=int, default=1)
    args = p.parse_args()
    rows = [int(n) for n in args.rows.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        run(bench.command("reduced", 1), pathlib.Path(folder) / "warm")
        few, more = bench.best("grid", 1, True), bench.best("grid", 21, True)
        row_s = (more[0] - few[0]) / 20
        print(f"{args.network} network, {args.grid} x {args.grid}, a row on the grid {1e3 * row_s:.1f} ms; seconds (MB)")
        print(f"{'rows':>7} {'grid':>15} {'reduced':>13} {'reduced warm':>13} {'auto':>13} takes")
        for n in rows:
            told = row_s * n > MINUTE
            grid = (few[0] + row_s * (n - 1), more[1], "") if told else bench.best("grid", n, True)
            reduced, warm, auto = bench.best("reduced", n), bench.best("reduced", n, True), bench.best("auto", n)
            cells = [f"{'~' if told else ''}{grid[0]:.2f} ({grid[1]:.0f})"] + [f"{t[0]:.2f} ({t[1]:.0f})" for t in (reduced, warm, auto)]
            better = min(grid, reduced)
            print("{:>7} {:>15} {:>13} {:>13} {:>13} {}".format(n, *cells, "grid" if "method grid:" in auto[2] else "reduced"))
            print(f"ratio auto_{n} {auto[0] / better[0]:.3f}\nratio auto_{n}_memory {auto[1] / better[1]:.3f}", flush=True)


main()
