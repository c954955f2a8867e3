#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Merge, query and sensitivity on studies whose answers are known by hand.
# Usage: study_tables.sh SWEEP_PROGRAM SQLITE_DUMP THERMIX
set -euo pipefail
sweep=$1 dump=$2 thermix=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
say() { echo "FAILED: $*"; exit 1; }
echo 'y = 1;' >base.cfg

cat >grid.cfg <<'S'
name = "g"; base = "base.cfg"; repeat = 2;
axes = ( { key = "x"; values = [10, 2, -3]; }, { key = "y"; range = { from = 1; to = 2; steps = 3; }; } );
S
run() { "$sweep" "$@" 2>err.txt || [ $? = 1 ]; } # x = -3 never ends: failed points are exit code 1
run ./grid.cfg -o whole.sqlite -q >/dev/null
# what results warn of is kept with the run, beside its identity, and said once by whatever reads it
grep -qF 'thermix sweep: warning: y = 2 is high (4 of 18 runs: x 10, 2; y 2)' err.txt || say "the sweep does not warn: $(cat err.txt)"
"$thermix" query whole.sqlite --value sum 2>err.txt >/dev/null
[ "$(grep -cF 'thermix query: warning: y = 2 is high (4 of 18 runs: x 10, 2; y 2)' err.txt)" = 1 ] || say "query does not warn: $(cat err.txt)"
run ./grid.cfg -o whole.sqlite -q | grep -q '^18 points, 18 distinct runs: 18 there before' || say "a run with a warning is run again: $(cat err.txt)"
for i in 1 2 3; do run ./grid.cfg -o "part$i.sqlite" -q --shard $i/3 >/dev/null; done
"$thermix" merge part1.sqlite part2.sqlite part3.sqlite -o all.sqlite
cmp <("$dump" whole.sqlite) <("$dump" all.sqlite) || say merged shards differ
"$thermix" merge whole.sqlite -o all.sqlite >/dev/null
cmp <("$dump" whole.sqlite) <("$dump" all.sqlite) || say merging twice doubled rows
run ./grid.cfg -o few.sqlite -q --limit 5 | grep -q '5 done now' || say limit
[ "$("$sweep" ./grid.cfg --dry-run | wc -l)" = 19 ] || say dry run

"$thermix" query whole.sqlite --rows y --pivot x --value sum --format csv >got.csv
printf 'y,2,10\n1,3,11\n1.5,3.5,11.5\n2,4,12\n' | cmp - got.csv || say pivot
"$thermix" query whole.sqlite --rows x,y --value sum,product --aggregate mean,sd,ci95,n --format csv >out.txt 2>err.txt || say "several statistics: $(cat err.txt)"
grep -q '^2,1,3,0,0,2,' out.txt || say "ci95 of two equal runs: $(cat out.txt)"
"$thermix" query whole.sqlite --rows x --value sum --aggregate mean,ci95 >out.txt 2>err.txt && say "an interval over an axis: $(cat out.txt)"
grep -q 'several values of y, which are no repetitions' err.txt || say "an interval over an axis: $(cat err.txt)"
"$thermix" query whole.sqlite --rows x --value sum --aggregate mean,sd,n --format csv >out.txt 2>err.txt || say "several statistics: $(cat err.txt)"
[ "$(head -1 out.txt)" = 'x,sum,sum_sd,sum_n' ] || say "columns of several statistics: $(head -1 out.txt)"
grep -q '^note: a cell has the runs of several values of ' err.txt || say "an axis is pooled in silence: $(cat err.txt)"
"$thermix" query whole.sqlite --rows x --value sum --aggregate meen 2>err.txt && say "--aggregate meen"
grep -q 'did you mean "mean"' err.txt || say "--aggregate meen: $(cat err.txt)"
"$thermix" query whole.sqlite --rows x --value sum --aggregate count --format csv | grep -q '^10,6$' || say count
"$thermix" query whole.sqlite --where x=10 --where y=2 --value product --format csv >got.csv
printf 'x,y,seed,product\n10,2,1,6.666666666666667\n10,2,2,6.666666666666667\n' | cmp - got.csv || say where
count() { # count CONDITION: runs that hold it
  "$thermix" query whole.sqlite --where "$1" --value sum --format csv | tail -n +2 | wc -l
}
[ "$(count 'y<1.5') $(count 'y<=1.5') $(count 'y>1.5') $(count 'y>=1.5') $(count 'y!=1.5') $(count 'y in 1,2.0') $(count 'x = 2')" = \
  '4 8 4 8 8 8 6' ] || say "conditions: $(count 'y<1.5') $(count 'y<=1.5') $(count 'y>1.5') $(count 'y>=1.5') $(count 'y!=1.5') $(count 'y in 1,2.0') $(count 'x = 2')"
left=$(find . -name '*.sqlite-wal' -o -name '*.sqlite-shm')
[ -z "$left" ] || say "a finished study leaves $left beside its database"
"$thermix" query whole.sqlite --where 'y~1' 2>err.txt && say a wrong condition accepted
grep -q 'expected KEY=VALUE' err.txt || say wrong condition
head -1 got.csv | grep -q status && say "a study that is complete says it is not"
"$thermix" query few.sqlite --rows y --value sum --format csv 2>/dev/null | grep -q '^1,.*,partial: 5 of 18 points$' || say "partial: $("$thermix" query few.sqlite --rows y --value sum --format csv)"
"$thermix" query few.sqlite --value sum --format csv 2>/dev/null | head -1 | grep -q ',status$' || say "partial, all runs"
run ./grid.cfg -o zero.sqlite -q --limit 0 | grep -q ' 0 done now' || say --limit 0 runs something
"$thermix" query whole.sqlite --failed --format csv | grep -q '^-3,1.5,2,x = -3 never ends$' || say failed
"$thermix" query whole.sqlite --rows nope --value sum 2>err.txt && say unknown key accepted
grep -q 'no key "nope"; known: x, y, seed' err.txt || say unknown key
"$thermix" query none.sqlite 2>err.txt && say missing database accepted
grep -q 'none.sqlite: cannot open' err.txt || say missing database

# curves, with their data
"$thermix" plot whole.sqlite --x x --y sum --by y --where 'x>0' -o sum.svg -q || say plot --x --y
printf 'by,x,mean,low,high,place\n1,2,3,3,3,0\n1,10,11,11,11,1\n' | cmp - <(head -3 sum.figure/data/sum_by_x.csv) || say "data of curves: $(cat sum.figure/data/sum_by_x.csv)"
cat >shares.cfg <<'S'
name = "s"; base = "base.cfg"; axes = ( { key = "x"; values = [3, 5, 7, 10]; }, { key = "y"; values = [1, 2]; } );
S
run ./shares.cfg -o shares.sqlite -q >/dev/null
"$thermix" plot shares.sqlite --x x --y product --by y -o shares.svg -q || say plot --by
grep -q '<text> *10</text>' shares.svg || say "no tic at the largest value"
grep -q '<text> *11</text>' shares.svg && say "an axis up to 10 goes on to 11"
echo 'name = "m"; kernels = ( { kernel = "SVM"; work_s = 1.0; } );' >mix.cfg
echo 'mix = "mix.cfg"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;' >run.cfg
cat >words.cfg <<'S'
name = "w"; base = "run.cfg"; axes = ( { key = "policy"; values = ["BL", "MU"]; }, { key = "throttle.trip_c"; values = [86.0, 90.0]; } );
S
"$thermix" sweep ./words.cfg -o words.sqlite -q >/dev/null
"$thermix" plot words.sqlite --x policy --y peak_temp_c --by trip_c -o words.svg -q || say plot of an axis of words
[ "$(grep -c '<text> *BL</text>' words.svg)" = 1 ] || say "a word of an axis stands there $(grep -c '<text> *BL</text>' words.svg) times"
# a value with 15 digits on an axis is the run that a file with this value is
cat >digits.cfg <<'S'
name = "digits"; base = "run.cfg"; axes = ( { key = "package.r_convec"; values = [0.123456789012345]; } );
S
"$thermix" sweep ./digits.cfg -o digits.sqlite -q >/dev/null
"$thermix" run run.cfg --set package.r_convec=0.123456789012345 -o digits -q
"$thermix" sensitivity words.sqlite --value peak_temp_c --format csv -o got.csv || say "sensitivity of an axis of words"
grep -q '^policy,[A-Z]* to [A-Z]*,[0-9]' got.csv && grep -q '^policy,BL,-*[0-9]' got.csv && grep -q '^policy,MU,-*[0-9]' got.csv && grep -q '^throttle.trip_c,.*K per 1 K,,,' got.csv ||
  say "effects of words: $(cat got.csv)"
# two words and three seeds leave no run free: the seeds make the interval, t(4) sqrt(2/3 s^2)
cat >noise.cfg <<'S'
name = "n"; base = "run.cfg"; set = ["sensor.noise_k=1", "inlet_c=20", "throttle.trip_c=50", "throttle.release_c=49"]; repeat = 3;
axes = ( { key = "policy"; values = ["BL", "MU"]; } );
S
"$thermix" sweep ./noise.cfg -o noise.sqlite -q >/dev/null 2>&1
"$thermix" query noise.sqlite --value slowdown_pct --rows policy,seed --format csv >runs.csv 2>/dev/null
"$thermix" sensitivity noise.sqlite --value slowdown_pct --format csv >got.csv 2>/dev/null
awk -F, 'FNR == NR { if (FNR > 1) { n[$1]++; s[$1] += $3; q[$1] += $3 * $3 } next }
  $1 == "policy" && $2 ~ / to / { for (p in n) ss += q[p] - s[p] * s[p] / n[p]; d = 2.7764451052 * sqrt(2 / 3 * ss / 4) - $4; ok = $4 > 0 && d < 1e-6 && d > -1e-6 }
  END { exit !ok }' runs.csv got.csv || say "an interval by seeds: $(cat runs.csv got.csv)"
"$thermix" query digits.sqlite --value energy_j,peak_temp_c --format csv | grep -q '^0.123456789012345,' || say "an axis loses digits"
id=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "id" || $i == "run") c = i } NR == 2 { print $c }' digits/summary.csv)
[ -n "$id" ] && grep -aq "# run $id" digits.sqlite || say "the same value is another run on an axis: $id"
"$thermix" plot whole.sqlite --x nope --y sum -o x.svg 2>err.txt && say an unknown key is drawn
grep -q 'no key "nope"' err.txt || say unknown key of plot

# z = x y / 3 with x ~ U(1, 3), y ~ U(1, 2): elasticities 1, first-order indices 0.675 and 0.3, totals 0.7
# and 0.325.
cat >indices.cfg <<'S'
name = "i"; base = "base.cfg"; sample = { method = "indices"; n = 128; };
axes = ( { key = "x"; range = { from = 1; to = 3; }; }, { key = "y"; range = { from = 1; to = 2; }; } );
S
run ./indices.cfg -o indices.sqlite -q >/dev/null
"$thermix" sensitivity indices.sqlite --value product --format csv -o got.csv
check() { # ROW COLUMN EXPECTED TOLERANCE
  awk -F, -v r="$1" -v c="$2" -v e="$3" -v t="$4" \
    'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i } $1 == r { d = $k - e; exit !(d < t && d > -t) }' got.csv ||
    say "$1 $2 is not $3: $(cat got.csv)"
}
check x elasticity_1 1 1e-9
check y elasticity_1 1 1e-9
check x first_order_1 0.675 0.05
check y first_order_1 0.300 0.05
check x total_1 0.700 0.05
check y total_1 0.325 0.05
"$thermix" sensitivity indices.sqlite --value sum --format csv -o got.csv
check x standardised_1 0.894 0.01
check y standardised_1 0.447 0.01
check x r2_1 1 1e-9
# an axis of two keys is one of the design: x is 1, 2, 3 or 4 and y ~ U(1, 2), var 1.25 and 1 / 12
sed -e 's/{ key = "x".*{ key = "y"/{ keys = ["x", "sleep_ms"]; values = ( [1, 0], [2, 0], [3, 0], [4, 0] ); }, { key = "y"/' indices.cfg >joint.cfg
run ./joint.cfg -o joint.sqlite -q >/dev/null
"$thermix" sensitivity joint.sqlite --value sum --format csv -o got.csv
check x first_order_1 0.9375 0.05
check y total_1 0.0625 0.02
# main effects of a grid
cat >effects.cfg <<'S'
name = "w"; base = "base.cfg"; repeat = 2;
axes = ( { key = "x"; values = [3, 6]; }, { key = "y"; values = [1, 2, 4]; } );
S
run ./effects.cfg -o effects.sqlite -q >/dev/null
"$thermix" sensitivity effects.sqlite --value sum --format csv -o got.csv # sum = x + y: no interactions
# shares of x + y: var(3, 6) = 2.25, var(1, 2, 4) = 14/9
check x effect 3 1e-9
check y effect 3 1e-9
check x share_pct 59.124087591 1e-6
check y share_pct 40.875912409 1e-6
grep -q '^(interactions),,,,0' got.csv && grep -q '^(seeds),,,,0,' got.csv || say "what is left: $(cat got.csv)"
"$thermix" sensitivity effects.sqlite --value product --format csv -o got.csv # z y: 1 2 4 2 4 8
check x effect 2.3333333333 1e-9
check y effect 4.5 1e-9
awk -F, '$1 == "x" || $1 == "y" || /^\(/ { s += $5 } END { exit !(s > 99.999999 && s < 100.000001) }' got.csv || say "shares: $(cat got.csv)"
[ "$("$thermix" query whole.sqlite --where 'sum>=11' --where y!=1.5 --value sum --format csv | tail -n +2 | wc -l)" = 4 ] || say "--where of a metric"
"$thermix" query whole.sqlite --where 'sum=high' 2>err.txt && say "--where of a metric and a word"
grep -q 'sum is a metric: expected a number' err.txt || say "--where of a metric and a word: $(cat err.txt)"
echo "merge, query and sensitivity give the numbers known by hand"
