#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How many jobs fit: the forecast beside thermix budget, beside a run, job by job; bad input.
#   place.sh THERMIX
set -uo pipefail
thermix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export THERMIX_DATA=$root LC_ALL=C.UTF-8
say() { echo "FAILED: $*"; exit 1; }
cell() { awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == row + 2 { print $c }' "$1"; }
near() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 <= d ^ 2) }'; }

# one chip under one fan at full speed is the chip of `thermix budget`: its watts fit, a tenth of a watt more does not
coarse="--set rows=16 --set cols=16"
"$thermix" budget gtx280 --limit 88 $coarse --format csv >budget.csv || say budget
watt=$(cell budget.csv 29 chip_w)
less=$(python3 -c "print($watt - 0.05)") more=$(python3 -c "print($watt + 0.05)")
"$thermix" place gtx280 --limit 88 --power "$less" --set fan.policy=fixed $coarse --format csv >fits.csv || say "place below the budget"
"$thermix" place gtx280 --limit 88 --power "$more" --set fan.policy=fixed $coarse --format csv >not.csv || say "place above the budget"
[ "$(cell fits.csv 0 jobs)$(cell not.csv 0 jobs)" = 10 ] || say "budget $watt W: $(cat fits.csv not.csv)"
near "$(cell fits.csv 0 forecast_c)" "$(cell fits.csv 0 run_c)" 0.01 || say "a fixed fan: $(cat fits.csv)"

# a kernel under which the chip leaks otherwise than the chip's file has it
sed 's/chip = "gtx280"/chip = "v100"/' "$root/systems/gtx280.cfg" >v100.cfg
"$thermix" place ./v100.cfg --limit 82 --kernel aw_cutlass_k1 --set inlet_c=30 --set fan.policy=fixed --check 1500 $coarse --format csv >leaks.csv 2>err.txt || say "place a V100"
near "$(cell leaks.csv 0 forecast_c)" "$(cell leaks.csv 0 run_c)" 0.5 || say "a kernel's leakage: $(cat leaks.csv err.txt)"

# a node whose cards pass on their air, fans on curves: the run agrees as far as its fans' hysteresis and levels let it
"$thermix" place node-8gpu --limit 85 --kernel Conv $coarse --format csv >node.csv || say "place node-8gpu"
near "$(cell node.csv 0 forecast_c)" "$(cell node.csv 0 run_c)" 1 || say "node-8gpu: $(cat node.csv)"
"$thermix" place node-8gpu --limit 85 --kernel Conv $coarse >again.txt && "$thermix" place node-8gpu --limit 85 --kernel Conv $coarse >again2.txt
cmp again.txt again2.txt || say "typed twice"
# job by job: each admitted below the limit, the next one above it
"$thermix" place node-8gpu --limit 78 --kernel Mmul --by job --check 0 $coarse --format csv >jobs.csv || say "--by job"
python3 - jobs.csv node.csv <<'P' || say "--by job: $(cat jobs.csv)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
k = [float(r["forecast_c"]) for r in rows]
assert [int(r["jobs"]) for r in rows] == list(range(len(rows))), "jobs count up"
assert all(b >= a - 1e-3 for a, b in zip(k, k[1:])), "a job cools the node"
assert all(x <= 78 for x in k[:-1]) and (len(rows) == 9 or k[-1] > 78), "who is admitted"
assert all(abs(float(a["next_c"]) - float(b["forecast_c"])) < 1e-9 for a, b in zip(rows, rows[1:])), "next_c"
assert len({r["gpu"] for r in rows}) == len(rows), "a GPU twice"
P

# warmer air carries less, and shifts an idle node by as much where fans are fixed
set -- place node-8gpu --kernel SVM --limit 88 --check 0 --format csv --set fan.policy=fixed --by job $coarse
"$thermix" "$@" >cool.csv && "$thermix" "$@" --set inlet_c=+8 >warm.csv || say "inlet_c=+8"
near "$(cell warm.csv 0 inlet_c)" 43 1e-9 || say "inlet: $(cat warm.csv)"
[ "$(wc -l <warm.csv)" -lt "$(wc -l <cool.csv)" ] || say "warmer air carries as much: $(cat cool.csv warm.csv)"
# a hall: the nodes at the top of the racks carry no more than those at the bottom
"$thermix" place hall --kernel SVM --limit 80 --check 0 $coarse --format csv >hall.csv || say hall
python3 -c 'import csv
r = list(csv.DictReader(open("hall.csv")))
assert len(r) == 32 and all(int(a["jobs"]) >= int(b["jobs"]) for a, b in zip(r, r[1:]) if a["node"][:5] == b["node"][:5]), r' || say "hall: $(cat hall.csv)"
"$thermix" place hgx-b200 --limit 62 --kernel gpu_burn --check 60 >words.txt || say hgx-b200
grep -q '^hgx-b200 carries . jobs of 496 W on its 8 GPUs below 62 degC in air of 24 degC' words.txt || say "words: $(cat words.txt)"

# a bare number of watts caps every GPU; a calibration's folder is a system
"$thermix" check hgx-b200-vf --set power_caps_w=480 --format csv | grep -c 'power_caps_w.*480' >caps.txt
[ "$(cat caps.txt)" -ge 1 ] || say "power_caps_w=480: $("$thermix" check hgx-b200-vf --set power_caps_w=480 --format csv | grep caps)"
"$thermix" calibrate "$root/docs/examples/measured/card.csv" -q --no-figures -o card >/dev/null 2>&1 || say calibrate
"$thermix" place card --limit 80 --power 100 --check 0 --format csv >card.csv && [ "$(cell card.csv 0 jobs)" = 1 ] || say "a calibration: $(cat card.csv)"

refuse() { # refuse TEXT ARGUMENT...
  local text=$1
  shift
  "$thermix" place "$@" $coarse >out.txt 2>err.txt </dev/null
  local code=$?
  [ $code = 2 ] && grep -qF -- "$text" err.txt || say "place $*: exit $code, $(cat out.txt err.txt)"
}
refuse 'which system?'
refuse 'no topology "nosuch"' nosuch
refuse 'no kernel "nosuch"' gtx280 --kernel nosuch
refuse 'states no board power; give --kernel or --power' gtx280 --limit 80
refuse 'give one' gtx280 --kernel SVM --power 30
refuse 'where the throttle stops clocks' gtx280 --kernel SVM --limit 95
refuse 'moves clocks' gtx280 --kernel SVM --set dtm.policy=dvfs
refuse 'fans that are fixed or on their curve' gtx280 --kernel SVM --set fan.policy=pi
refuse 'expected a number' gtx280 --kernel SVM --limit hot
sed 's/^power = {/power = { phases = { list = ( { until = 1.0; power_w = 20.0; } ); };/' "$root/workloads/kernels/load.cfg" >wave.cfg
refuse 'draws watts in phases' gtx280 --kernel ./wave.cfg
refuse 'leave out group smooth' gtx280 --kernel SVM --set smooth.secondary_floor_w=70
refuse 'constant room air' gtx280 --kernel SVM --set 'inlet=({time_s=0.0;inlet_c=25.0;},{time_s=9.0;inlet_c=45.0;})'
for key in mix=WL1 topology=gtx280x2 policy=MU place.policy=spread mix_policy.policy=alternate; do
  refuse "--set $key: place makes its own jobs" gtx280 --kernel SVM --set "$key"
done
refuse 'a folder; expected a file to write' gtx280 --kernel SVM -o .
refuse 'throttled from the start' gtx280 --power 50 --set inlet_c=90
refuse 'one temperature is inlet_c' gtx280 --kernel SVM --set inlet=30
"$thermix" place gtx280 --kernel SVM --limit 46 $coarse >none.txt || say "no job fits"
grep -q 'carries 0 jobs.*without work it comes to' none.txt || say "no job fits: $(cat none.txt)"
echo ok
