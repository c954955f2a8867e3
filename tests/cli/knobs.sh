#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Suite tabs-knobs from the command line: what each knob is worth at best, by the programme, is what its specification's prototype
# found; a run's own bound has the knobs of its variant; and no run is better than that.    knobs.sh THERMIX
. "$(dirname "$0")/begin.sh"
"$thermix" bound WL10 --set rows=8 --set cols=8 > /dev/null 2> err || { grep -q GLPK err && echo "no solver: nothing to test" && exit 0; cat err; exit 1; }
cat > mix.cfg <<'M'
name = "WL8";
kernels = ( { kernel = "SVM"; work_s = 6.0; }, { kernel = "Conv"; work_s = 6.0; } );
M
# on the machine of the prototype
cat > set.cfg <<'C'
quantum_s = 0.05; warmup_s = 2.0;
chip_power = { baseline_w = 11.5; leakage_w = 24.0; leakage_ref_c = 85.0; leakage_form = "exponential"; leakage_exp_per_k = 0.036; leakage_sm_share = -1.0; baseline_sm_share = 0.0; dvfs_power = "v2f"; };
package = {
  t_chip = 0.00078; k_chip = 100.0; p_chip = 1.75e6; t_interface = 0.0001; k_interface = 2.2; p_interface = 4.0e6;
  s_spreader = 0.04; t_spreader = 0.002; k_spreader = 400.0; s_sink = 0.06; t_sink = 0.0069; r_convec = 0.25; c_convec = 140.4; ambient = 318.15;
};
C
sed -e 's|^mixes = .*|mixes = ["./mix.cfg"];|; s|warmup_s = 200.0;|@include "set.cfg"|' -e 's/chip_power.leakage_w=[0-9.]*/chip_power.leakage_w=22.75/' \
  -e 's/package.r_convec=[0-9.]*/package.r_convec=0.225/' "$root/workloads/suites/tabs-knobs.cfg" |
  sed 's|topology=gtx280-fast|topology=./fast.cfg|' > suite.cfg
sed 's/fit_b_k_per_w = [0-9.]*/fit_b_k_per_w = 111.204153/' "$root/systems/gtx280-fast.cfg" > fast.cfg # 0.25 K/W at 2700 rpm
"$thermix" bound ./suite.cfg --format csv > bound.csv
# WL8 of the prototype's table: 11.36, 7.61, 3.83, 3.18, 2.58, 2.58, 0.35, 3.18; the last at full fans
awk -F, 'BEGIN { split("11.36 7.61 3.83 3.18 2.58 2.58 0.35 3.18 0", want, " ") }
  NR > 1 && $1 == "WL8" { n++; d = $2 - want[n]; if (d > 0.01 || d < -0.01) { print; bad = 1 } if ($3 > 1e-9) { print "certificate " $3; bad = 1 } }
  END { exit bad || n != 9 }' bound.csv || fail "bounds"
"$thermix" table ./suite.cfg -q -j 2 --set package.init_temp=350.15 -o out > /dev/null
awk -F, 'FILENAME == "bound.csv" { if ($1 == "WL8") b[$NF] = $2; next }
  FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
  $c["mix"] == "WL8" { n++; d = $c["bound_pct"] - b[$c["variant"]]
    if (d > 1e-6 || d < -1e-6) { print "not its bound: " $0; bad = 1 }
    if ($c["headroom_w"] == "") { print "no headroom: " $0; bad = 1 } }
  END { exit bad || n != 9 }' bound.csv out/table.csv || fail "a run's bound is not that of its knobs"
# what a group of a run says: an unknown knob, a share that is none
for bad in 'bound={place=true;}' 'bound={sm_leak=0.0;}'; do
  if "$thermix" run wl1 -q --set "$bad" > /dev/null 2> err; then fail "$bad is taken"; fi
  grep -q 'place\|sm_leak' err || fail "$bad: $(cat err)"
done
# budgets from where a run is, and their picture
"$thermix" budget gtx280 --limit 88 --state wl1 --at 0.2 --horizon 1 --set warmup_s=100 --format csv > warm.csv
"$thermix" budget gtx280 --limit 88 --horizon 1 --format csv > idle.csv
awk -F, 'FNR == 1 { next } FILENAME == "idle.csv" { i[$1] = $3; next } { n++; if (!($3 < i[$1] && $3 > 0)) { print $1, $3, i[$1]; bad = 1 } }
  END { exit bad || n != 30 }' idle.csv warm.csv || fail "a warm chip has no smaller budget"
# the sets are those of the horizon: of the best n + 1 SMs n may draw as much, and no best is below a worst
"$thermix" budget gtx280 --limit 88 --horizon 1e-3 --format csv > short.csv
awk -F, 'FNR == 1 { b = 1e99; next } { if ($3 > b * 1.001 || $2 > $3 * 1.000001) { print FILENAME, $1, $2, $3, b; bad = 1 } b = $3 }
  END { exit bad }' warm.csv idle.csv short.csv || fail "sets of a horizon"
if "$thermix" budget gtx280 --state wl1 2> err; then fail "--state without --horizon"; fi
grep -q 'without --horizon or --boost' err || fail "$(cat err)"
if "$thermix" budget c1060 --state wl1 --horizon 1 2> err; then fail "--state of another chip"; fi
grep -q 'is a gtx280' err || fail "$(cat err)"
if "$thermix" budget gtx280 --at 3 2> err; then fail "--at without --state"; fi
grep -q 'without --state' err || fail "$(cat err)"
# the answer comes first, in a sentence: its watts of work are the table's last row
"$thermix" budget gtx280 --limit 88 > out.txt
head -2 out.txt | paste -sd' ' | grep -q '^[0-9]* W for ever below 88 degC with all 30 SMs in air of 44.6 degC: 68 W of work, [0-9]* W leakage, 1[12] W besides' &&
  tail -1 out.txt | grep -q ' 67\.[0-9]* ' || fail "budget does not begin with its answer: $(head -2 out.txt)"
# for a while is never less than for ever, and has an answer in a sentence, too
"$thermix" budget gtx280 --limit 88 --horizon 10000 > while.txt
tail -30 out.txt > always.txt; tail -30 while.txt | paste -d' ' always.txt - | awk '{ if ($8 < $2 || $9 < $3) bad = 1; n++ } END { exit bad || n != 30 }' || fail "less for a while than for ever: $(tail -3 while.txt)"
head -1 while.txt | grep -q '^68 W of work for 10000 s below 88 degC with all 30 SMs, from the idle chip' || fail "a while: $(head -1 while.txt)"
grep -q 'map' out.txt && fail "columns of a map without --map"
"$thermix" budget gtx280 --limit 88 --set method=grid --set rows=8 --set cols=8 > out.txt || fail "a budget by the grid"
if "$thermix" budget gtx280 --limit 88 --set stuck_s=9 2> err; then fail "a key that a budget does not read"; fi
# a limit that no work keeps is no budget of 0 W and no solver's status
if "$thermix" budget gtx280 --limit 50 > out.txt 2> err; then fail "a budget at 50 degC: $(cat out.txt)"; fi
grep -q 'without work the hottest SM comes to 63.23' err || fail "$(cat err)"
# kalos is a mix and a run: the run's A100s, which nothing but a power limit stops, and not the mix on the machine of suite tabs-knobs
if "$thermix" bound kalos --set rows=8 --set cols=8 > /dev/null 2> err || ! grep -q "nothing limits" err; then fail "the bound of a run whose mix has its name"; fi
# a path is what its file holds
for name in mixes/WL7 runs/wl1; do
  "$thermix" bound "$THERMIX_DATA/workloads/$name.cfg" --set rows=8 --set cols=8 > path.txt && "$thermix" bound "${name#*/}" --set rows=8 --set cols=8 | cmp - path.txt ||
    fail "a bound of the path of $name"
done
for bad in policy=MU place.policy=coldest dtm.policy=dvfs; do
  if "$thermix" bound WL7 --set $bad 2> err || ! grep -qF -- "--set $bad: a bound holds for every policy" err; then fail "a bound with $bad: $(cat err)"; fi
done
"$thermix" bound WL7 --set policy=MU --set measured_gains=true --set rows=8 --set cols=8 > /dev/null || fail "gains are a policy's"
if "$thermix" bound WL7 --limit 50 2> err; then fail "a bound at 50 degC"; fi
grep -q 'at a limit of 50 degC' err || fail "$(cat err)"
# how long a boost holds: the budget for that time is the boost; a hot run leaves less; a run's folder is a state
"$thermix" budget gtx280 --limit 88C --boost 1.3 --format csv > boost.csv || fail boost
time_s=$(awk -F, 'NR == 2 { print $3 }' boost.csv)
"$thermix" budget gtx280 --limit 88 --horizon "$time_s" --format csv > held.csv
awk -F, 'NR == FNR { if (FNR == 2) w = $2; next } FNR == 31 { ok = $5 >= w && $5 < 1.01 * w } END { exit !ok }' boost.csv held.csv || fail "boost: $(cat boost.csv) beside $(tail -1 held.csv)"
"$thermix" run study --set rows=16 --set cols=16 -o hot -q > /dev/null
"$thermix" budget gtx280 --limit 95 --state hot --at 10 --boost 1.3 > hot.txt || fail "a folder as a state"
grep -q '^1.3 times that work (.* W) holds for .* s from hot\.$' hot.txt || fail "$(cat hot.txt)"
cp -r "$THERMIX_DATA/floorplans/gtx280" mychip
"$thermix" run study --set rows=16 --set cols=16 --set chip=./mychip -o own -q > /dev/null
"$thermix" budget ./mychip --limit 95 --state own --at 10 --horizon 1 > /dev/null || fail "a chip by its path with a state"
if "$thermix" budget ./mychip --limit 95 --state hot --at 10 --horizon 1 2> err; then fail "the state of another chip's run"; fi
for bad in '--boost 1' '--boost 1.2 --horizon 3' '--boost 1.2 --map best' '--boost 1.2 -o x.svg' '--limit 88F' '--set smooth.secondary_floor_w=70'; do
  # shellcheck disable=SC2086
  if "$thermix" budget gtx280 --limit 88 $bad > /dev/null 2> err; then fail "budget $bad"; fi
done
"$thermix" explain hot --no-steps | head -1 | grep -q '^SVM draws 87 W; this chip carries .* W below 90 degC in air of 44.6 degC' || fail "explain does not begin with the heat"
# degrees Celsius as people type them
"$thermix" check study --set package.ambient=40C --set throttle.trip_c=85C --format csv > celsius.csv || fail "--set package.ambient=40C"
grep -q 'package.ambient,313.15$' celsius.csv && grep -q 'throttle.trip_c,85$' celsius.csv || fail "$(grep -E 'ambient|trip_c' celsius.csv)"
if "$thermix" check study --set tick_s=3C > /dev/null 2> err; then fail "seconds in degrees"; fi
# sets from files: every number of a line counts, whatever separates them
printf '0 29,1;\n2  3\n' > map.txt
"$thermix" budget gtx280 --limit 88 --map map.txt --format csv > map.csv
awk -F, 'NR == 2 && $1 == 5 && $7 == "0 1 2 3 29" { ok = 1 } END { exit !ok }' map.csv || fail "a set of five: $(cat map.csv)"
for bad in '0 1 30' '0 1 1' '0 x' '' '-1' '1.5'; do
  echo "$bad" > map.txt
  if "$thermix" budget gtx280 --map map.txt > /dev/null 2> err; then fail "SMs \"$bad\" are taken"; fi
  grep -q 'map.txt' err || fail "$bad: $(cat err)"
done
"$thermix" budget gtx280 --limit 88 --map worst -o maps.svg
[ "$(grep -c '</text>' maps.svg)" = 30 ] || fail "not a picture a number of SMs"
[ "$(grep -o 'fill="#d55e00"' maps.svg | wc -l)" = 465 ] || fail "SMs that work: $(grep -o 'fill="#d55e00"' maps.svg | wc -l), 1 + 2 + ... + 30 expected"
echo "1 passed, 0 failed"
