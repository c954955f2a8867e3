#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --seeds N of table and run: means, spread and intervals are those of the runs one by one; figures say what their bars are.
#   seeds.sh THERMIX
set -uo pipefail
thermix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export THERMIX_DATA=$root LC_ALL=C.UTF-8
say() { echo "FAILED: $*"; exit 1; }
cat >s.cfg <<'C'
name = "s"; kind = "tabs";
base = { chip = "gtx280"; seed = 4; tick_s = 0.01; quantum_s = 0.01; warmup_s = 20.0; throttle = { trip_c = 75.0; release_c = 73.0; }; rows = 8; cols = 8; sensor = { noise_k = 1.0; period_s = 0.01; }; };
mixes = ["./a.cfg"]; policies = ("BL", "A"); baseline = "BL"; compare = "A";
C
printf 'name = "a";\nkernels = ( { kernel = "SVM"; work_s = 8.0; }, { kernel = "Sepia"; work_s = 8.0; } );\n' >a.cfg
"$thermix" table ./s.cfg --seeds 3 -o all -q >screen.txt || say "table --seeds"
grep -q '95 % of 3 seeds +-' screen.txt || say "the screen shows no interval: $(cat screen.txt)"
for seed in 4 5 6; do
  "$thermix" table ./s.cfg --set seed=$seed -o one$seed -q >/dev/null || say "seed $seed"
  "$thermix" check study --set seed=$seed >/dev/null || say check
done
python3 - <<'P' || say "the table is not that of its runs: $(cat all/table.csv)"
import csv, math
read = lambda f: list(csv.DictReader(open(f)))
rows, ones = read("all/table.csv"), [read(f"one{s}/table.csv") for s in (4, 5, 6)]
assert len(rows) == 4, rows
spread = 0
for r, *each in zip(rows, *ones):
    assert r["seeds"] == "3" and r["status"] == "done"
    for c in ("slowdown_pct", "energy_j", "peak_temp_c", "improvement_over_bl_pct"):
        if "" in [e[c] for e in each]:
            assert r[c] == r[c + "_sd"] == "", c
            continue
        v = [float(e[c]) for e in each]
        m = sum(v) / 3
        sd = math.sqrt(sum((x - m) ** 2 for x in v) / 2)
        assert abs(float(r[c]) - m) < 1e-9 * (1 + abs(m)), (c, r[c], v)
        assert abs(float(r[c + "_sd"]) - sd) < 1e-6 * (1 + sd), (c, r[c + "_sd"], sd)
        assert abs(float(r[c + "_ci95"]) - 4.302652729911275 * sd / math.sqrt(3)) < 1e-5 * (1 + sd), c
        spread += sd
assert spread > 0.01, "seeds change nothing"
P
printf '%s\nseeds = 3;\n' "$(cat s.cfg)" >t.cfg
"$thermix" table ./t.cfg -o key -q >/dev/null && cmp all/table.csv key/table.csv || say "the key seeds"
"$thermix" table ./s.cfg --seeds 3 -o all -q >again.txt && cmp screen.txt again.txt || say "typed twice"
"$thermix" query all --rows policy,seed --value slowdown_pct --format csv >q.csv 2>/dev/null && [ "$(wc -l <q.csv)" = 7 ] || say "query by seed: $(cat q.csv)"
"$thermix" query all --rows policy --value slowdown_pct --aggregate mean >/dev/null 2>note.txt && grep -q 'several values of seed' note.txt || say "pooled: $(cat note.txt)"
"$thermix" query all --rows policy --value slowdown_pct --aggregate mean,ci95,n >/dev/null 2>note.txt && ! grep -q several note.txt || say "an interval over seeds: $(cat note.txt)"
if command -v gnuplot >/dev/null; then
  "$thermix" plot all -o figures >/dev/null || say plot
  grep -q 'interval of the mean, n = 3 seeds' figures/slowdown.svg || say "the figure does not say what its lines are"
fi

printf 'chip = "gtx280"; mix = "./a.cfg"; policy = "A"; seed = 4; tick_s = 0.01; quantum_s = 0.01; warmup_s = 20.0; throttle = { trip_c = 75.0; release_c = 73.0; }; rows = 8; cols = 8; sensor = { noise_k = 1.0; period_s = 0.01; };\n' >r.cfg
"$thermix" run ./r.cfg --seeds 3 -o run -q || say "run --seeds"
python3 - <<'P' || say "run --seeds: $(cat run/seeds.csv)"
import csv
table = {r["policy"]: r for r in csv.DictReader(open("all/table.csv")) if r["mix"] == "a"}["A"]
run = {r["metric"]: r for r in csv.DictReader(open("run/seeds.csv"))}
for m in ("slowdown_pct", "energy_j", "peak_temp_c"):
    for a, b in (("mean", ""), ("sd", "_sd"), ("ci95", "_ci95")):
        assert abs(float(run[m][a]) - float(table[m + b])) <= 1e-9 * (1 + abs(float(table[m + b]))), (m, a)
    assert run[m]["n"] == "3" and float(run[m]["min"]) <= float(run[m]["mean"]) <= float(run[m]["max"])
P
"$thermix" run ./r.cfg --seeds 3 -q -o run || say "run --seeds typed twice"
# nothing random: one line says so; the same seed from starts 1e-6 K apart shows what rounding moves, run by run
grep -q 'The same numbers' screen.txt && say "random runs: $(cat screen.txt)"
"$thermix" table ./s.cfg --seeds 3 --set sensor.noise_k=0 -q >same.txt && grep -q '^The same numbers with 3 seeds: nothing here is random' same.txt || say "nothing random: $(cat same.txt)"
"$thermix" table ./s.cfg --seeds 3 --nudge -o starts -q >starts.txt && tail -1 starts.txt | grep -q '^Starts up to 2e-06 K warmer: ' || say "starts: $(cat starts.txt)"
"$thermix" table ./s.cfg --set start_plus_k=2e-6 -o warmer -q >/dev/null || say start_plus_k
"$thermix" query starts --where policy=BL --where start_plus_k=2e-06 --rows policy --value energy_j --format csv >energy.txt
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } FILENAME == "energy.txt" { e = $2 } FILENAME != "energy.txt" && $1 == "a" && $2 == "BL" { exit !($c["energy_j"] == e) }' \
  energy.txt warmer/table.csv || say "a start: $(cat energy.txt)"
"$thermix" run ./r.cfg --seeds 2 --nudge --format csv --columns metric >/dev/null 2>err.txt && grep -q '^Starts up to 1e-06 K warmer: ' err.txt || say "run --nudge: $(cat err.txt)"
"$thermix" run ./r.cfg --set start_plus_k=1e-6 -o once -q && grep -q 'init_temp = .*0001;' once/resolved.cfg && "$thermix" run once/resolved.cfg -o twice -q &&
  cmp once/summary.csv twice/summary.csv || say "a start in resolved.cfg"
refuse() { # refuse TEXT ARGUMENT...
  local text=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt </dev/null
  [ $? = 2 ] && grep -qF -- "$text" err.txt || say "$*: $(cat out.txt err.txt)"
}
refuse 'this is a suite, not a run' run ./s.cfg
refuse 'trace does nothing beside --seeds' run ./r.cfg --seeds 3 -o x --trace 1
refuse 'expected a whole number' run ./r.cfg --seeds 1.5
refuse '--nudge is of --seeds N, with N of 2 or more' run ./r.cfg --nudge
refuse '--nudge is of --seeds N, with N of 2 or more' table ./s.cfg --nudge --seeds 1
refuse '--nudge is of suites of kind tabs' table tcs --seeds 2 --nudge
refuse '--policy is of suites of kind tabs' table apsa --policy tsp
refuse 'start_plus_k: expected a number from -60 to 60' run ./r.cfg --set start_plus_k=1e9
refuse 'nothing in a suite of kind consolidation is random' table consolidation --seeds 2
refuse '--aggregate needs --rows or --pivot' query all --value slowdown_pct --aggregate mean
echo ok
