#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ticks of 50 ms and 16 x 16 cells do to suite tabs-posterior: twenty of the sets beside this file, spread over the draws, at 5 ms
and 32 x 32 cells. Usage: error.py OUT [SETS], with thermix in PATH; prints a row a printed value: coarse less fine."""
import csv
import pathlib
import re
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
suites = here.parents[2] / "workloads" / "suites"
out = pathlib.Path(sys.argv[1])
n = int(sys.argv[2]) if len(sys.argv) > 2 else 20
with open(here / "sets.csv") as f:
    done = [r for r in csv.DictReader(f) if r["status"] == "done"]
pick = [done[round(i * (len(done) - 1) / 19)] for i in range(20)][:n]
keys = [k for k in done[0] if k not in ("set", "status") and not re.fullmatch(r"v\d+", k)]


def other_policies(line):  # MNU and MA cost time and weigh nothing
    return '"MNU"' in line or '"MA"' in line


def typed(v):
    if v in ("true", "false"):
        return v
    try:
        return repr(float(v))
    except ValueError:
        return f'"{v}"'


values = [v for v in (suites / "tabs" / "values.cfg").read_text().split("\n") if v.strip().startswith("{ figure")]
kept = [i for i, v in enumerate(values) if not other_policies(v)]
text = (suites / "tabs-posterior.cfg").read_text()
axes = ",\n".join("(" + ", ".join(typed(r[k]) for k in keys) + ")" for r in pick)
names = ", ".join(f'"{k}"' for k in keys)
text = text[: text.index("sets = {")] + f"sets = {{ axes = ( {{ keys = [{names}]; values = ( {axes} ); }} ); }};\n" + text[text.index("mixes =") :]
text = "\n".join(line for line in text.split("\n") if not (other_policies(line) and line.strip().startswith('{ name = "M')))
text = text.replace("$places\"]; },", "$places\"]; }").replace('name = "tabs-posterior"', 'name = "tabs-error"')
text = text.replace('@include "tabs/values.cfg"', "\n".join(values[i] for i in kept))
text = text.replace('@include "tabs/', f'@include "{suites}/tabs/')
text = text.replace("tick_s = 0.05;", "tick_s = 0.005;").replace("rows = 16;", "rows = 32;").replace("cols = 16;", "cols = 32;")
out.mkdir(parents=True, exist_ok=True)
(out / "tabs-error.cfg").write_text(text)
subprocess.run(["thermix", "table", str(out / "tabs-error.cfg"), "-q", "-o", str(out)], check=True, stdout=subprocess.DEVNULL)
with open(out / "sets.csv") as f:
    fine = [r for r in csv.DictReader(f)]
write = csv.writer(sys.stdout, lineterminator="\n")
write.writerow(["quantity", "of", "policy", "sets", "mean", "sd", "largest"])
for j, i in enumerate(kept):
    d = [float(c[f"v{i + 1}"]) - float(r[f"v{j + 1}"]) for c, r in zip(pick, fine) if r["status"] == "done" and c[f"v{i + 1}"] and r[f"v{j + 1}"]]
    if len(d) > 1:
        q = re.search(r'quantity = "([^"]*)".*?of = "([^"]*)".*?policy = "([^"]*)"', values[i]).groups()
        write.writerow([*q, len(d), *(f"{x:.3f}" for x in (statistics.mean(d), statistics.stdev(d), max(d, key=abs)))])
