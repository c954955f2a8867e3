#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file has a licence, and only one: a source in an SPDX line at its top, any other file in REUSE.toml: spdx.py SOURCE

The names of REUSE.toml are held to be there, too. What README.md in workloads/measured and workloads/requests gives as the licence of a
file must be what REUSE.toml gives."""

import os
import pathlib
import re
import subprocess
import sys
import tomllib

SOURCES = {".c", ".h", ".cpp", ".py", ".sh", ".gp", ".cmake", ".js", ".css"}
NAMES = {"MIT": "MIT", "Apache-2.0": "Apache-2.0", "CC-BY 4.0": "CC-BY-4.0", "BSD 2-clause": "BSD-2-Clause"}


def files_of(top):
    """What git tracks or would; of an unpacked release, what is not built."""
    found = subprocess.run(["git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."], capture_output=True)
    if found.returncode == 0 and (top / ".git").exists():
        return sorted(n for n in os.fsdecode(found.stdout).split("\0") if n and (top / n).is_file())
    every = (p.relative_to(top) for p in top.rglob("*") if p.is_file())
    return sorted(str(p) for p in every if not re.match(r"build|out$|site$", p.parts[0]) and "__pycache__" not in p.parts)


def pattern(glob):
    """REUSE: `*` is anything in a folder, `**` anything."""
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(p, re.escape(p)) for p in re.split(r"(\*\*|\*)", glob)))


def problems(files, head, rows, readmes):
    """What is wrong with names of files, given head(name), the rows of REUSE.toml and the tables {folder: text}."""
    globs = [(g, pattern(g), r) for r in rows for g in ([r["path"]] if isinstance(r["path"], str) else r["path"])]
    used = set()
    for name in files:
        licences = [r["SPDX-License-Identifier"] for g, p, r in globs if p.fullmatch(name) and not used.add(g)]
        line = re.search(r"SPDX-License-Identifier: (\S+)", head(name))
        if pathlib.PurePath(name).suffix in SOURCES or name.endswith("CMakeLists.txt"):
            if not line or line[1] != "GPL-3.0-or-later":
                yield f'{name}: no line "SPDX-License-Identifier: GPL-3.0-or-later" at the top'
        elif not licences and not line:
            yield f"{name}: no licence: add the file to REUSE.toml"
        folder, _, base = name.rpartition("/")
        for row in readmes.get(folder, "").splitlines():
            stated = [NAMES[w] for w in NAMES if w in row]
            if stated and f"`{base}`" in row.partition("|")[2].partition("|")[0] and licences[-1:] != stated:
                yield f"{name}: {folder}/README.md gives {stated}, REUSE.toml {licences[-1:]}"
    for g, _, _ in globs:
        if g not in used:
            yield f"REUSE.toml: no file is called {g}"


def main(top):
    with open(top / "REUSE.toml", "rb") as f:
        rows = tomllib.load(f)["annotations"]

    def head(name):
        with open(top / name, "rb") as f:
            return f.read(300).decode("utf-8", "replace")

    folders = ("workloads/measured", "workloads/requests")
    readmes = {f: (top / f / "README.md").read_text() for f in folders}
    files = files_of(top)
    bad = list(problems(files, head, rows, readmes))
    # Does it see a source without its line, a file of data that was forgotten, another licence, and a name that is gone?
    seeded = ["core/new.c", "workloads/measured/new.csv", "workloads/measured/zeus_a40_open.csv"]
    rows = [{"path": ["gone.csv", "workloads/measured/z*"], "SPDX-License-Identifier": "MIT"}]
    seen = list(problems(seeded, lambda name: "", rows, readmes))
    if [s.split(":")[0] for s in seen] != [*seeded, "REUSE.toml"]:
        bad += ["the test misses what was seeded:", *seen]
    if bad:
        sys.exit("\n".join(bad))
    print(f"{len(files)} files have a licence")


main(pathlib.Path(sys.argv[1]).resolve())
