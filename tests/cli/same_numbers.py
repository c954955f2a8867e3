#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far are the tables of two folders apart? same_numbers.py A B [TOLERANCE]: every CSV that both have, column by column
by its name (column `run` is left out: it is a hash of the inputs), rows in their order. A number differs when it is farther off
than TOLERANCE (1e-6) of the larger one and 1e-9 absolutely. Prints a line a file that differs: the worst number, and what only
one of them has. Exit code 1 when a number differs."""

import csv
import pathlib
import sys


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def compare(a, b):
    """The worst relative difference, where, and notes on what cannot be compared."""
    rows = [list(csv.DictReader(p.open())) for p in (a, b)]
    columns = [list(r[0]) if r else [] for r in rows]
    notes = [f"only in {name}: {', '.join(sorted(only))}" for name, only in
             (("A", set(columns[0]) - set(columns[1])), ("B", set(columns[1]) - set(columns[0]))) if only]
    if len(rows[0]) != len(rows[1]):
        return None, "", notes + [f"{len(rows[0])} and {len(rows[1])} rows"]
    worst, where = 0.0, ""
    for i, (x, y) in enumerate(zip(*rows)):
        for c in x:
            if c == "run" or c not in y or x[c] == y[c]:
                continue
            v, w = number(x[c]), number(y[c])
            if v is None or w is None:
                notes.append(f"row {i + 1}, {c}: \"{x[c]}\" and \"{y[c]}\"")
            elif abs(v - w) > 1e-9:
                off = abs(v - w) / max(abs(v), abs(w))
                if off > worst:
                    worst, where = off, f"row {i + 1}, {c}: {x[c]} and {y[c]}"
    return worst, where, notes


def main():
    a, b = (pathlib.Path(p) for p in sys.argv[1:3])
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-6
    files = [sorted(p.relative_to(d) for p in d.rglob("*.csv")) for d in (a, b)]
    both = [f for f in files[0] if f in files[1]]
    n_same = n_close = n_far = 0
    for f in both:
        worst, where, notes = compare(a / f, b / f)
        if worst is None or worst > tolerance:
            n_far += 1
            print(f"{f}: {'' if worst is None else f'{worst:.2g} at {where}'}")
        elif worst > 0:
            n_close += 1
        else:
            n_same += 1
        for n in notes[:5] + ([f"{len(notes) - 5} more"] if len(notes) > 5 else []):
            print(f"{f}: {n}")
    for name, only in (("A", set(files[0]) - set(files[1])), ("B", set(files[1]) - set(files[0]))):
        for f in sorted(only):
            print(f"{f}: only in {name}")
    print(f"{len(both)} tables: {n_same} equal, {n_close} within {tolerance:g}, {n_far} not")
    return 1 if n_far else 0


if __name__ == "__main__":
    sys.exit(main())
