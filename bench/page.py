# SPDX-License-Identifier: GPL-3.0-or-later
"""One page of speed: each figure as a ratio to its floor, measured in the same run, beside the last release's.

    page.py BUILD [FIGURE...]    measure (all of them without a name); exit 1 when one is 10 % dearer than stored
    page.py BUILD --store [FIGURE...]    measure and store: what `./dev bench --store` does at a release
    page.py --check              is every guarded function there, and printed every figure by its program?

bench/page.csv has a row a figure: program (below BUILD/bench) with its arguments, the function that the figure
guards, and the ratio of the last release. Times depend on the machine and on what else it does; a ratio of two
times taken in turns depends on neither by much. A figure above the limit is measured again, twice, and its least
counts."""
import csv, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "page.csv")
LIMIT = 1.10


def figures():
    with open(STORED, newline="") as f:
        return list(csv.DictReader(f))


def ratios(build, program):
    words = program.split()
    out = subprocess.run([os.path.join(build, "bench", words[0])] + words[1:], stdout=subprocess.PIPE, text=True,
                         cwd=os.path.dirname(HERE)).stdout  # some end with 1 above a limit of their own
    return {name: float(v) for name, v in re.findall(r"^ratio (\S+) (\S+)$", out, re.M)}


def check():
    bad = 0
    for row in figures():
        path, function = row["guards"].split(":")
        with open(os.path.join(HERE, "..", path)) as f:
            if not re.search(r"\b%s\(" % re.escape(function), f.read()):
                print(f"page.csv: {row['figure']} guards {row['guards']}, which is not there")
                bad = 1
    return bad


def main():
    args = sys.argv[1:]
    if args == ["--check"]:
        return check()
    if not args:
        sys.exit(__doc__)
    build, names = args[0], [a for a in args[1:] if a != "--store"]
    store, rows, worse = "--store" in args, figures(), 0
    chosen = [r for r in rows if not names or r["figure"] in names]
    measured = {}
    print(f"{'figure':<28} {'now':>7} {'release':>8} {'change':>8}  guards")
    for program in dict.fromkeys(r["program"] for r in chosen):
        mine = [r for r in chosen if r["program"] == program]
        for attempt in range(3):
            for name, v in ratios(build, program).items():
                measured[name] = min(v, measured.get(name, v))
            if store or all(measured[r["figure"]] <= LIMIT * float(r["release"] or "inf") for r in mine):
                break
        for r in mine:
            now, was = measured[r["figure"]], float(r["release"] or "nan")
            slow = now > LIMIT * was
            worse |= slow
            print(f"{r['figure']:<28} {now:7.3f} {was:8.3f} {100 * (now / was - 1):+7.1f}%  {r['guards']}{'  DEARER' if slow else ''}",
                  flush=True)
            r["release"] = f"{now:.3f}"
    if store:
        with open(STORED, "w", newline="") as f:
            out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    return int(worse and not store)


sys.exit(main())
