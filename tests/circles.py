#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""circles.py ROOT: no two topics of one folder include each other, directly or by way of others.

A topic is a .c file with the header of its name. Prints each circle that it finds and exits with 1."""
import os
import re
import sys

root = sys.argv[1]
skip = {"build", "out", "tests", "bench", "examples"}
includes = {}
for folder, folders, files in os.walk(root):
    folders[:] = [f for f in folders if not f.startswith(".") and not (folder == root and f in skip)]
    for name in files:
        if name.endswith((".c", ".h")):
            path = os.path.relpath(os.path.join(folder, name), root)
            with open(os.path.join(root, path), encoding="utf-8") as f:
                found = re.findall(r'^\s*#\s*include "([^"]+)"', f.read(), re.M)
            includes.setdefault(path[:-2], set()).update(i[:-2] for i in found)
graph = {a: {b for b in to if b != a and b in includes} for a, to in includes.items()}


def reached(start):
    seen, todo = set(), list(graph[start])
    while todo:
        topic = todo.pop()
        if topic not in seen:
            seen.add(topic)
            todo += graph[topic]
    return seen


reach = {topic: reached(topic) for topic in graph}
circles = {tuple(sorted({a} | {b for b in reach[a] if a in reach[b]})) for a in graph if a in reach[a]}
for circle in sorted(circles):
    print("a circle of includes:", ", ".join(circle))
print(f"{len(graph)} topics, {len(circles)} circles")
sys.exit(bool(circles))
