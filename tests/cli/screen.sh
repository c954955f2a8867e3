#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What people see: no line is wider than the terminal, at three widths; the short form of a suite; --columns; emphasis.
#   screen.sh THERMIX
set -uo pipefail
thermix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v script >/dev/null || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export THERMIX_DATA=$root XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache} LC_ALL=C.UTF-8
say() { echo "FAILED: $*"; exit 1; }
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" >suite.cfg

on() { # on WIDTH ARGUMENT...: the screen into screen.txt
  local width=$1
  shift
  script -qec "stty cols $width; '$thermix' $*" /dev/null 2>&1 </dev/null | sed -e 's/\x1b\[[0-9]*m//g' -e 's/\r*$//' -e 's/.*\r//' -e 's/^.*left\x1b\[K$//' >screen.txt
  [ "$(wc -L <screen.txt)" -le "$width" ] || say "$* on $width columns: $(wc -L <screen.txt) wide: $(cat screen.txt)"
}
for width in 80 100 200; do
  on $width table ./suite.cfg -q -o out
  grep -q '^slowdown_pct ' screen.txt && grep -q '^mean ' screen.txt || say "no matrix: $(cat screen.txt)"
  grep -q 'out/table.csv' screen.txt || say "where are the files? $(cat screen.txt)"
  on $width table ./suite.cfg -q -o out --columns all
  grep -q 'leakage_j' screen.txt || say "--columns all lacks leakage_j"
  on $width table ./suite.cfg -q -o out --columns mix,policy,leakage_j
  [ "$(head -1 screen.txt | tr -s ' ')" = 'mix policy leakage_j' ] || say "--columns: $(head -1 screen.txt)"
  on $width power fit "$root/workloads/training/rodinia_c1060.csv"
  on $width list mixes
  on $width --help
  on $width list suites
  ! grep -q … screen.txt || say "list cuts what it says: $(cat screen.txt)"
  on $width list chips
  on $width list chips --columns name,source
  [ "$(head -1 screen.txt | tr -s ' ')" = 'name source' ] || say "list --columns: $(head -1 screen.txt)"
  on $width log show "$root/docs/examples/measured/card.csv"
  on $width calibrate "$root/docs/examples/measured/card.csv" --no-figures -o cal
  grep -q '^fan law: no fan speed' screen.txt || say "calibrate without its notes: $(cat screen.txt)"
done
on 80 table ./suite.cfg -q -o out --columns policy,leakage_j,mix
[ "$(head -1 screen.txt | tr -s ' ')" = 'policy leakage_j mix' ] || say "--columns in the order asked for: $(head -1 screen.txt)"
quick="--set rows=16 --set cols=16 --set tick_s=0.01 --set sensor.period_s=0.01"
on 80 run study $quick
on 80 budget gtx280
on 80 explain study $quick
grep -q 'takes the slowdown of' screen.txt || say "explain: $(cat screen.txt)"
on 80 explain gtx770-boost --set rows=16 --set cols=16 --set tick_s=0.05 --set sensor.period_s=0.05 --no-steps # one kernel, a governor, no throttle
grep -q 'no throttle stops clocks' screen.txt && grep -q 'The governor slowed it' screen.txt && ! grep -q 'both kernels' screen.txt ||
  say "explain of a governor: $(cat screen.txt)"
# TCS keeps cores free so that memory is less crowded: one cause, both sides of it said
on 80 explain study $quick --set mix=WL5 --set policy=BL --set cta.policy=tcs --set throttle.scope=sm --no-steps
grep -q 'policy kept 19' screen.txt && grep -q 'gave 1[89]' screen.txt && grep -q '^shared memory, cores kept free for it *0\.' screen.txt &&
  ! awk '/^no blocks on the SM/ && $(NF - 1) > 0.002 { found = 1 } END { exit !found }' screen.txt || say "explain of TCS: $(cat screen.txt)"
# policies that can change nothing are said to, once, and only they
cp -r "$root/floorplans/gtx280" one && sed -i '/freq_hz = 1.2[0-9]*e9\|1.15e9/d; s/1.33e9; },/1.33e9; }/' one/gt200.cfg
on 200 check study --set chip=./one --set policy=DVFS --set tb.policy=coldest_first
[ "$(grep -c '^thermix check: warning: ' screen.txt)" = 2 ] && grep -q 'has one clock level' screen.txt && grep -q 'has no choice' screen.txt ||
  say "policies without a choice: $(cat screen.txt)"
on 200 check study --set policy=DVFS
! grep -q '^thermix check: warning: ' screen.txt || say "a warning for nothing: $(cat screen.txt)"
# watts of a node that its boards cannot be set to
on 200 check hgx-b200-vf --set mix_policy.node_w=100
grep -q 'warning: .*100 W is less than .* 1600 W' screen.txt || say "caps below the least: $(cat screen.txt)"
on 200 check hgx-b200-vf --set mix_policy.node_w=1600
! grep -q '^thermix check: warning: ' screen.txt || say "a warning for nothing: $(cat screen.txt)"
on 80 table short
grep -qF '(the mix is of one kernel)' screen.txt || say "why policies are equal: $(cat screen.txt)"
[ "$(grep -A1 '^Did the same' screen.txt | tr -s '\n ' ' ' | grep -c 'DVFS, A, MU, MNU and MA on hot_hot')" = 1 ] ||
  say "equal policies: $(cat screen.txt)"
# what a run warns of is said once by whatever has the run, with the runs that it concerns
cat >late.cfg <<'S'
name = "late"; kind = "tabs"; mixes = ["hot_cold"]; policies = ("BL", "DVFS", "MU");
base = { chip = "gtx280"; seed = 1; tick_s = 0.02; rows = 8; cols = 8; sensor = { period_s = 0.02; }; throttle = { trip_c = 85.0; }; };
S
late='warning: dtm.emergency_c = 88.7 cannot act: throttle.trip_c = 85 stops the clock before (1 of 3 runs: policy DVFS)'
for words in "check late.cfg" "table late.cfg -o late" "query late" "report late -o late.html"; do
  "$thermix" $words >late.txt 2>&1
  [ "$(grep -cF "thermix ${words%% *}: $late" late.txt)$(grep -c 'dtm.emergency.*warning' late.txt)" = 10 ] || say "$words: $(cat late.txt)"
  case $words in table*) grep -q 'Did the same: BL and DVFS on hot_cold (dtm.emergency_c = 88.7 cannot act' late.txt || say "a wrong reason: $(cat late.txt)" ;; esac
done
grep -qF '"warnings":["dtm.emergency_c = 88.7 cannot' late.html || say "the page has no warnings"
"$thermix" check late.cfg --set base.emergency_below_trip_k=1 2>late.txt && say "a threshold that BL lacks"
grep -q 'no policy of this run has emergency_c (run: mix hot_cold, policy BL)' late.txt || say "which run? $(cat late.txt)"
script -qec "stty cols 80; '$thermix' place node-8gpu --limit 83 --kernel Cmem --set rows=8 --set cols=8" /dev/null 2>&1 </dev/null | tr '\r' '\n' >progress.txt
grep -q '^600 of 600 seconds of the check' progress.txt || say "place shows no progress: $(cat progress.txt)"
mkdir cold && XDG_CACHE_HOME=$PWD/cold script -qec "'$thermix' place node-8gpu --limit 83 --power 60 --check 0 --set rows=8 --set cols=8" /dev/null 2>&1 </dev/null | tr '\r' '\n' >progress.txt
grep -q '^making a thermal model' progress.txt || say "a set-up shows nothing: $(cat progress.txt)"
# runs that go side by side all end at the end: the time left is known before one of them has ended
script -qfec "stty cols 80; exec '$thermix' table short -j 1 --set tick_s=0.0002" progress.raw >/dev/null 2>&1 </dev/null &
left='^0 of 12 runs.* [0-9m]+s left' # the first run takes seconds, and need not end
for i in $(seq 150); do tr '\r' '\n' <progress.raw 2>/dev/null | grep -qE "$left" && break || sleep 0.1; done
kill $! && wait $! || true
tr '\r' '\n' <progress.raw | grep -qE "$left" || say "no time left: $(tr '\r' '\n' <progress.raw | grep left | tail -3)"
on 80 run hall --set rows=8 --set cols=8 --set tick_s=0.05 --set sensor.period_s=0.05
grep -q '^12 of 256 rows; all: --columns all' screen.txt || say "rows of a hall: $(tail -20 screen.txt)"
# every command's help and man page: 80 columns, an example that a shell takes as it stands
for command in $("$thermix" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  .*/\1/p'); do
  "$thermix" $command --help >help.txt
  [ "$(wc -L <help.txt)" -le 80 ] || say "$command --help is $(wc -L <help.txt) wide"
  sed -n '/^Example/,$s/^  //p' help.txt | sed 's/[|;&]*$//' >example.txt
  [ -s example.txt ] && bash -n example.txt || say "$command --help: example: $(cat example.txt)"
  "$thermix" help $command --man | sed -n '/^\.nf/,/^\.fi/p' | sed 's/\\-/-/g; s/\\e/\\/g' >man.txt
  [ "$(wc -L <man.txt)" -le 72 ] || say "the man page's examples of $command are $(wc -L <man.txt) wide"
done
# --columns holds for every format
"$thermix" table ./suite.cfg -q -o out --columns policy,mix --format csv | head -1 | grep -qx 'policy,mix' || say "--columns of csv"
"$thermix" table ./suite.cfg -q -o out --columns policy,mix --format markdown | head -1 | grep -qx '| policy | mix |' || say "--columns of markdown"
"$thermix" list runs --columns name --format json | python3 -c 'import json, sys; assert all(list(r) == ["name"] for r in json.load(sys.stdin))' || say "--columns of json"
"$thermix" table ./suite.cfg -q -o out --columns nope --format csv 2>err.txt >/dev/null && say "a column that is not there, as csv"
"$thermix" table ./suite.cfg -q -o out --columns nope 2>err.txt >/dev/null && say "a column that is not there"
grep -q 'no column "nope"; there are mix, policy' err.txt || say "$(cat err.txt)"
"$thermix" table ./suite.cfg -q -o out --format csv | cmp - out/table.csv || say "--format csv is not table.csv"
study=(run study --set rows=8 --set cols=8 --set tick_s=0.01 --set sensor.period_s=0.01 -q)
[ -z "$("$thermix" "${study[@]}" -o rare --trace 1000 2>err.txt)" ] || say "run -q speaks"
grep -q 'a trace every 1000 s has no row' err.txt || say "a trace without a row: $(cat err.txt)"
"$thermix" "${study[@]}" --format csv --columns slowdown_pct | head -1 | grep -qx slowdown_pct || say "run -q --format csv prints nothing"
"$thermix" "${study[@]}" --format csv --columns kernel,finished_s | grep -q '^SVM,[0-9.]*$' || say "--columns of the kernels, as csv"
"$thermix" "${study[@]}" --seeds 2 --format csv --columns metric,mean | head -1 | grep -qx metric,mean || say "--columns of --seeds"
"$thermix" "${study[@]}" -o series --trace 1 --format openmetrics --columns hottest_c >series.txt || say "--columns of a series"
grep -q '^thermix_hottest_c{.*} [0-9.]* [0-9.]*$' series.txt && ! grep -q power_w series.txt || say "--columns of a series: $(head -3 series.txt)"
"$thermix" log show "$root/docs/examples/measured/card.csv" --format csv --columns gpu,rows | head -1 | grep -qx gpu,rows || say "--columns of log show"
"$thermix" replay cal "$root/docs/examples/measured/card.csv" -q --format json --columns rmse_k | grep -q '^  "rmse_k": [0-9.]*$' || say "--columns of replay"
# what matters first is bold, on a terminal that can and where nothing forbids it
bold() { script -qec "'$thermix' $*" /dev/null 2>&1 </dev/null | grep -c $'\x1b\\[1m'; }
for words in "budget gtx280" "place gtx690 --check 0 --power 60 --set rows=16 --set cols=16" "replay cal $root/docs/examples/measured/card.csv -q" "table ./suite.cfg -q -o out"; do
  [ "$(TERM=xterm bold $words)" -ge 1 ] || say "$words: nothing is bold"
done
[ "$(NO_COLOR=1 TERM=xterm bold budget gtx280)$(TERM=dumb bold budget gtx280)$("$thermix" budget gtx280 | grep -c $'\x1b\\[')" = 000 ] ||
  say "bold where it may not be"
echo "screens of 80, 100 and 200 columns"
