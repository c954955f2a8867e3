#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that look at one kernel, one batch or one floorplan without a run of their own: what they print says what was asked,
# and what cannot be is refused.    alone.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export THERMIX_DATA=$root XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
say() { echo "FAILED: $*"; exit 1; }
fails() { # fails WORDS ARGUMENTS: exit 2, and the message has the words
  local words=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt
  [ $? = 2 ] && grep -q -e "$words" err.txt || say "$*: $(cat err.txt)"
}
column() { # column FILE NAME: its cells
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"
}

# gating: a row for each policy, break-even and wake-up time; waiting longer before units sleep saves less
"$thermix" gate hotspot -n 3000 --policy convpg,warped_gates --bet 9,24 --wakeup 3 -q --format csv >gate.csv || say "gate"
[ "$(wc -l <gate.csv)" = 6 ] || say "gate: $(cat gate.csv)"
"$thermix" gate hotspot -n 3000 --policy convpg,warped_gates --bet 9,24 --wakeup 3 -q -j 1 -o gated >/dev/null || say "gate -o"
cmp -s gate.csv gated/table.csv || say "gate -o and --format csv differ"
column gate.csv int_saved_pct | awk 'NR % 2 == 0 { short = $1 } NR > 1 && NR % 2 && $1 >= short { exit 1 }' || say "a longer break-even time saves more: $(cat gate.csv)"
"$thermix" gate hotspot --export kernel.trace -n 2000 || say "gate --export"
"$thermix" gate hotspot --trace kernel.trace -q --policy convpg --format csv >trace.csv || say "gate --trace"
[ "$(wc -l <trace.csv)" = 3 ] || say "gate --trace: $(cat trace.csv)"
"$thermix" gate hotspot -n 100 --seeds 1 --tune convpg -q >tune.txt || say "gate --tune"
grep -q '=' tune.txt || say "gate --tune: $(cat tune.txt)"
# the suite has every run of its three parts kernel by kernel: the benchmarks without a gap before a launch, and those with code
sed 's/^instructions = .*/instructions = 1000;/; s/^seeds = 8;/seeds = 1;/' "$root/workloads/suites/warped-gates.cfg" >wg.cfg
"$thermix" table ./wg.cfg -q -o wg >/dev/null || say "warped-gates"
[ "$(wc -l <wg/no_launch_gaps.csv)" = 109 ] || say "no_launch_gaps.csv: $(wc -l <wg/no_launch_gaps.csv) rows"
[ "$(column wg/compiled_code.csv kernel | sort -u | wc -l)" = 12 ] || say "compiled_code.csv: $(column wg/compiled_code.csv kernel | sort -u)"
fails 'unknown policy' gate hotspot --policy nothing
fails 'hotspot is given twice' gate hotspot hotspot
fails 'MUM is given twice' cta MUM MUM
fails 'nokernel' gate nokernel
fails 'which kernel\|expected' gate
fails 'outside\|expected' gate hotspot --bet 0
fails 'unknown key\|unknown' gate hotspot -n 2000 -q --set gate.zzz=1
fails 'chip c1060 has no SM that runs cycle by cycle: expected .*/c1060/sm.cfg' gate hotspot --chip c1060

# batches: merging two kernels is predicted to cost no more than one after another, and a decision says by how much
"$thermix" consolidate 1S+20B --format csv >merge.csv || say "consolidate"
"$thermix" consolidate 1S+20B --decide >decide.txt && grep -q "^cpu: .* J, measured$" decide.txt || say "consolidate --decide"
"$thermix" consolidate 1S+20B --temp 90 --set power.temperature_w_per_k=0.64 --format csv | cut -d, -f1,2 | cmp -s - <(cut -d, -f1,2 merge.csv) || say "consolidate --temp: other rows"
fails 'outside\|expected' consolidate 1S+20B --temp -300
fails 'temp does nothing: c1060 has temperature_w_per_k = 0' consolidate 1S+20B --temp 90
fails 'nobatch' consolidate nobatch
fails 'nonode' consolidate 1S+20B --node nonode
fails 'unknown key' consolidate 1S+20B --set gpu.zzz=1

# floorplans beside one another: a row each, the denser one is hotter
printf 'name = "few"; kind = "tabs"; doc = "d"; paper = "003";\nbase = { chip = "gtx280"; seed = 1; tick_s = 0.01; rows = 8; cols = 8; };
mixes = ["./mix.cfg"]; policies = ("BL"); baseline = "BL"; compare = "BL";\nvalues = ();\n' >few.cfg
printf 'name = "m"; kernels = ( { kernel = "SVM"; work_s = 1.0; }, { kernel = "Cmem"; work_s = 0.5; } );\n' >mix.cfg
flp=$root/floorplans/gtx280/gtx280.flp
"$thermix" floorplan scale "$flp" --by 0.9 -o small.flp || say "floorplan scale"
"$thermix" floorplan compare "$flp" small.flp --suite ./few.cfg --format csv >compare.csv 2>err.txt || say "floorplan compare: $(cat err.txt)"
[ "$(wc -l <compare.csv)" = 3 ] || say "floorplan compare: $(cat compare.csv)"
column compare.csv peak_temp_c | awk 'NR == 1 { whole = $1; next } $1 <= whole { exit 1 }' || say "a smaller die is no hotter: $(cat compare.csv)"
"$thermix" floorplan compare "$flp" small.flp --suite ./few.cfg -o compared >/dev/null 2>&1 && [ -s compared/table.csv ] && [ -s compared/units.csv ] ||
  say "floorplan compare -o"
fails 'nosuite' floorplan compare "$flp" small.flp --suite nosuite
fails 'nowhere.flp' floorplan compare "$flp" nowhere.flp --suite ./few.cfg
fails 'nopolicy' floorplan compare "$flp" small.flp --suite ./few.cfg --policy nopolicy

# what there is, with every option and source
for what in policies backends chips; do
  "$thermix" list $what -v >all.txt || say "list $what -v"
  "$thermix" list $what >short.txt
  [ "$(wc -l <all.txt)" -gt $(($(wc -l <short.txt) + 3)) ] || say "list $what -v has no more than without"
done
"$thermix" list metrics --format json | python3 -m json.tool >/dev/null || say "list metrics"
fails 'runs' list everything

# why a run was slow, in words, with the steps that would help
printf 'chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; rows = 8; cols = 8; throttle = { trip_c = 60.0; release_c = 58.0; };\n' >hot.cfg
"$thermix" explain ./hot.cfg -j 2 >why.txt 2>err.txt || say "explain: $(cat err.txt)"
grep -q 'Lost most: SM' why.txt && grep -q 'The worst' why.txt || say "explain: $(cat why.txt)"
grep -q 'both kernels' why.txt && ! "$thermix" explain ./hot.cfg --set gpus=2 -j 2 | grep -q 'both kernels' || say "explain of a kernel on each GPU"
"$thermix" explain gtx280x2 --set rows=8 --set cols=8 --set tick_s=0.02 --set sensor.period_s=0.02 -j 2 >two.txt && grep -q 'air 2 K colder' two.txt && grep -q 'in turns' two.txt && ! grep -q r_convec two.txt || say "explain of a card with fans: $(cat two.txt)"
"$thermix" explain ./hot.cfg --no-steps --format csv >why.csv || say "explain --format csv"
grep -q throttle why.csv || say "explain --format csv: $(cat why.csv)"
# a step from event to event is in the bins of all its ticks
"$thermix" explain study --no-steps --set rows=8 --set cols=8 --set tick=events -o events.svg >events.txt || say "explain of events"
awk -F, 'NR > 1 && $2 < 0 { bad = 1 } END { exit bad || NR < 10 }' events.figure/data/explain.csv || say "explain of events: bins without a temperature"
grep -q "of 12.00 SM seconds" events.txt || say "explain of events: $(grep worst events.txt)"
fails 'norun' explain norun
# a folder is explained as long as its files make the run whose results are in it
mkdir -p edited
sed 's/^name = .*/name = "mine";/' "$root/workloads/kernels/SVM.cfg" >edited/mine.cfg
printf 'name = "m"; kernels = ( { kernel = "./mine.cfg"; work_s = 1.0; } );\n' >edited/mix.cfg
printf 'chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; warmup_s = 1.0; rows = 8; cols = 8;\n' >edited/run.cfg
"$thermix" run edited/run.cfg -o edited/out -q >/dev/null && "$thermix" explain edited/out --no-steps >/dev/null || say "explain of a folder"
"$thermix" report edited/out --no-what-if -o page.html >/dev/null 2>err.txt
sed -i 's/sm_power_w = [0-9.]*/sm_power_w = 5.0/' edited/mine.cfg
fails 'mine.cfg changed since' explain edited/out --no-steps
"$thermix" explain edited/out --no-steps --accept-changed >why.txt 2>err.txt && grep -q 'warning:.*mine.cfg changed' err.txt || say "explain --accept-changed: $(cat err.txt)"
sed -i 's/input,mine.cfg,.*/input,mine.cfg,0,run/; 2,$s/^[0-9a-f]*/0/' edited/out/manifest.csv # of an older run
fails 'mine.cfg changed since' explain edited/out
sed -i '/,input,/d' edited/out/manifest.csv # of an older version
fails 'a file that it reads or the version' explain edited/out
mv edited/out/gpus.csv gpus.csv
"$thermix" report edited/out -o page.html 2>err.txt && grep -q 'warning: edited/out/gpus.csv: this folder.*it is not there' err.txt || say "a file that is missing: $(cat err.txt)"
mv gpus.csv edited/out
echo >>edited/out/summary.csv
fails 'not the file that this folder' report edited/out -o page.html
fails 'not the file that this folder' explain edited/out
echo "gating, batches, floorplans, lists and reasons"
