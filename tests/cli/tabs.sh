#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The simulator from the command line: a small suite is the same bytes at any -j, the main table agrees with the stored
# one; a resolved configuration repeats its run; a run's own powers give its temperatures
# through `thermix thermal`; wrong configurations are named and exit with 2; a run stopped by a signal
# keeps what it has.    tabs.sh THERMIX ROOT [--warmer]
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$dir/cache}"

# 1. any number of workers
suite=suite.cfg
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" > $suite
"$thermix" table ./$suite -j 1 -o one -q > /dev/null
"$thermix" table ./$suite -j 2 -o two -q > /dev/null
cmp one/table.csv two/table.csv || fail "-j changes the table"
cmp one/paper.csv two/paper.csv || fail "-j changes the paper's values"
# a table that was stopped keeps every run that has ended and says so, and the same command does the rest: the same bytes
fine="--set tick_s=0.002" # so that the runs end one after another, and not at once
"$thermix" table ./$suite -j 2 $fine -o long -q > /dev/null
n_all=$("$thermix" query long --format csv | tail -n +2 | wc -l)
for signal in INT KILL; do
  rm -rf resumed
  "$thermix" table ./$suite -j 1 $fine -o resumed -q > /dev/null 2> stopped.txt & pid=$!
  for _ in $(seq 600); do
    n=$("$thermix" query resumed --format csv 2> /dev/null | tail -n +2 | wc -l)
    [ "$n" = 0 ] || break
    sleep 0.05
  done
  kill -$signal $pid; wait $pid && fail "the table ended before it was stopped"
  n=$("$thermix" query resumed --format csv 2> /dev/null | tail -n +2 | wc -l)
  [ "$n" -gt 0 ] && [ "$n" -lt "$n_all" ] || fail "$n of $n_all runs of a stopped table are kept"
  cp -r resumed part # the folder of a suite as an input of merge, and as its output
  "$thermix" merge long resumed -o merged.sqlite > /dev/null && "$thermix" merge long -o part > /dev/null || fail "folders of a suite do not merge"
  for db in merged.sqlite part; do
    [ "$("$thermix" query $db --format csv | tail -n +2 | sort)" = "$("$thermix" query long --format csv | tail -n +2 | sort)" ] || fail "merged into $db: other runs"
  done
  rm -rf part merged.sqlite
  if [ $signal = INT ]; then
    grep -q "stopped by a signal: $n of $n_all runs $([ $n = 1 ] && echo is || echo are) kept in resumed/runs.sqlite; the same command does the other $((n_all - n))" stopped.txt ||
      fail "a stopped table says $(cat stopped.txt)"
    [ "$(grep -c ',not run,' resumed/table.csv)" = $((n_all - n)) ] || fail "a stopped table: $(cat resumed/table.csv)"
  fi
  "$thermix" table ./$suite -j 2 $fine -o resumed > /dev/null 2> resumed.txt
  grep -q "^$n of $n_all runs are there from before (resumed/runs.sqlite), $((n_all - n)) to do" resumed.txt || fail "a resumed table does not say what it kept: $(cat resumed.txt)"
  for f in table paper ledger; do cmp long/$f.csv resumed/$f.csv || fail "a resumed table is another one: $f.csv"; done
done
timeout -s INT 0.5 "$thermix" table tabs -j 1 --set tick_s=0.00002 -o early -q > /dev/null 2> early.txt && fail "a stopped table succeeds"
grep -q 'no run had ended, nothing is kept\|stopped by a signal before any run' early.txt || fail "a table that was stopped early: $(cat early.txt)"
for s in 0.05 0.15 0.25; do # in the midst of its preparations, wherever that is on this machine
  rm -rf early
  timeout --preserve-status -s INT $s "$thermix" table tabs -j 1 --set tick_s=0.00002 -o early -q > /dev/null 2> early.txt && code=0 || code=$?
  [ $code -lt 128 ] || [ $code = 130 ] || fail "a table that was stopped after $s s: $code $(cat early.txt)"
done
# its runs are a study's: the numbers of the table
"$thermix" query one --rows mix --pivot policy --value slowdown_pct --format csv > query.csv
awk -F, 'FILENAME == "query.csv" { if (FNR == 1) split($0, name, ","); else for (i = 2; i <= NF; i++) q[$1, name[i]] = $i; next }
  FNR > 1 && ($1, $2) in q { n++; d = q[$1, $2] - $3; if (d > 1e-9 || d < -1e-9) { print $0, q[$1, $2]; bad = 1 } } END { exit bad || n < 4 }' query.csv one/table.csv ||
  fail "query of a suite: $(cat query.csv)"
# other policies beside what the suite compares with; every run's losses sum to its gap
"$thermix" table ./$suite --policy tsp,MU -o chosen -q > /dev/null
[ "$(cut -d, -f2 chosen/table.csv | sort -u | tr '\n' ' ')" = "BL DVFS MU policy tsp " ] || fail "--policy: $(cut -d, -f2 chosen/table.csv | sort -u | tr '\n' ' ')"
for d in one chosen; do
  "$thermix" bound ./$suite --format csv > bound.csv
  awk -F, 'FILENAME == "bound.csv" { b[$1] = $2; next } FNR > 1 { n++; s = 0; for (i = 6; i < NF - 1; i++) s += $i; d = s - $5
    if (d > 1e-6 || d < -1e-6 || $4 != b[$1]) bad = 1 } END { exit bad || n < 4 }' bound.csv $d/ledger.csv || fail "$d/ledger.csv does not close"
done
# the main table: the stored numbers; with --warmer (slow) again in air that is 1e-9 K warmer (docs/notes/tabs.md): what a last bit could move is stored nowhere
golden=$root/tests/golden/tabs
cp $golden/suite.cfg main.cfg
for m in WL3 WL8; do sed 's/400\.0/100.0/' "$root/workloads/mixes/$m.cfg" > $m.cfg; done # a quarter of the work
same() { # same FOLDER: its table is the stored one to 1e-6
  paste -d'\n' "$1/table.csv" "$golden/table.csv" | awk -F, -v of="$1" '
    NR % 2 { for (i = 1; i <= NF; i++) a[i] = $i; n = NF; next }
    n != NF { print "columns differ in row " NR / 2; bad = 1 }
    { for (i = 1; i <= NF; i++) if (a[i] != $i) {
        d = a[i] - $i; if (d < 0) d = -d; s = $i < 0 ? -$i : $i
        if (a[i] !~ /^[-0-9.e+]+$/ || $i !~ /^[-0-9.e+]+$/ || d > 1e-6 * s + 1e-6) { print of ", row " NR / 2 ": " a[i] " is not " $i; bad = 1 } } }
    END { exit bad || NR < 40 }' || fail "$1: the table is not the stored one"
}
"$thermix" table ./main.cfg -j 2 -o main -q > main.txt; same main
# its screen: mixes by policy with the least that any can lose, both means, and the headlines in their groups
sed -n 's/  */ /g; /^Did/,/^$/d; p' main.txt | sed 's/[0-9]\.[0-9][0-9]*/N/g; s/[0-9]N/N/g' > shown.txt
printf '%s\n' 'slowdown_pct BL DVFS A MU MNU MA bound' 'WL3 N N N N N N N' 'WL8 N N N N N N N' 'mean, as listed N N N N N N N' 'mean, reversed N N N N N N N' \
  '' 'One:' ' printed ours 5 % of sets 95 %' 'A saves, % N N N N' 'MU, WL3, % N N N N' '' 'Two:' ' printed ours 5 % of sets 95 %' 'of A, WL3, % N N - -' '' \
  'All columns: main/table.csv; every printed value: main/paper.csv' | diff - shown.txt || fail "the first screen: $(cat main.txt)"
grep -q '^A saves, % *60.00 .* 41.0 *63.0$' main.txt || fail "the range of the sets: $(cat main.txt)"
[ "${3:-}" != --warmer ] || { "$thermix" table ./main.cfg -j 2 -o warmer -q --set package.ambient=317.750000001 > /dev/null; same warmer; }
# `run wl1` is a cell of suite `tabs`
wl1=$("$thermix" run wl1 --set policy=BL --columns slowdown_pct --format csv | tail -1)
awk -v x="$wl1" 'BEGIN { exit !(x > 11.05922 && x < 11.05924) }' || fail "wl1 under BL: $wl1"

# the law of T^ABS acts: with its emergency out of reach every policy does something else
sed 's/\(mix_policy.emergency_c\)=88.5", "mix_policy.release_c=87.1"/\1=200"/' suite.cfg > never.cfg
"$thermix" table ./never.cfg -j 2 -o never -q > /dev/null
for p in A MU MNU MA; do
  awk -F, -v p=$p '$1 == "hot_cold" && $2 == p { print $3 }' one/table.csv never/table.csv |
    awk 'NR == 1 { a = $1 } END { d = a - $1; exit !(NR == 2 && d * d > 0.25) }' || fail "$p does the same without an emergency"
done

# 2. a resolved configuration is the same run
cat > run.cfg <<'C'
mix = "small"; policy = "MA"; seed = 3; tick_s = 0.01; warmup_s = 5.0; rows = 16; cols = 16;
sensor = { noise_k = 0.5; };
C
sed "s|\"small\"|\"$root/tests/golden/tabs_small/hot_cold.cfg\"|" run.cfg > a.cfg
"$thermix" run a.cfg -o a -q --trace 0.5 --hotspot 0.01
"$thermix" run a/resolved.cfg -o b -q
cmp a/summary.csv b/summary.csv || fail "resolved.cfg is another run"

# 3. its powers give its temperatures
"$thermix" thermal -c a/thermal.config -p a/power.ptrace -o again.ttrace --precision 6 > /dev/null
paste -d'\n' a/temps.ttrace again.ttrace | awk '
  NR % 2 { for (i = 1; i <= NF; i++) a[i] = $i; n = NF; next }
  NR > 2 { rows++; for (i = 1; i <= NF; i++) { d = a[i] - $i; if (d < 0) d = -d; if (d > worst) worst = d } }
  END { print "largest difference " worst + 0 " K over " rows " rows"; exit !(rows > 500 && worst <= 0.002) }' ||
  fail "thermix thermal does not repeat the run"
# a card whose fan has one speed, in a folder of its own: its convection in place of the package's, and a floorplan that is found
(cd "$root" && env -u THERMIX_DATA "$thermix" run gtx770-boost --set fan.policy=fixed --set rows=16 --set cols=16 -o "$dir/card" -q --hotspot 0.5 2>/dev/null) || fail "the card"
(cd card && "$thermix" thermal -c thermal.config -p power.ptrace -o again.ttrace --precision 6 >/dev/null &&
  tail -qn 1 temps.ttrace again.ttrace | awk '{ d = NR == 1 ? $1 : d - $1 } END { exit !(d < 0.01 && d > -0.01) }') ||
  fail "thermix thermal does not repeat the card's run"

# 4. wrong configurations
expect() { # expect CODE TEXT COMMAND...
  code=$1 text=$2; shift 2
  got=0; "$@" > out.txt 2> err.txt || got=$?
  [ "$got" = "$code" ] || fail "exit $got, not $code: $* ($(cat err.txt))"
  grep -qF -- "$text" err.txt || fail "no \"$text\" in: $(cat err.txt)"
}
bad() { printf '%s\n' "$1" > bad.cfg; expect 2 "$2" "$thermix" check bad.cfg; }
bad 'seed = 1; mixx = "WL1";' 'bad.cfg:1: unknown key "mixx", did you mean "mix"?'
bad 'mix = "WL1";' 'missing key "seed"'
bad 'seed = 1;
mix = "WL1";
tick_s = 2.0;' 'bad.cfg:3: tick_s = 2 s is outside'
bad 'seed = 1; mix = "WL11";' 'no mix "WL11"'
bad 'seed = 1; mix = "WL1"; policy = "XY";' 'no such preset'
bad 'seed = 1; mix = "WL1"; dtm = { policy = "ice"; };' 'unknown dtm policy "ice"; there is none, throttle, dvfs'
bad 'seed = 1; mix = "WL1"; throttle = { trip_c = 900.0; };' 'trip_c = 900 degC is outside [0, 300]'
bad 'seed = 1; mix = "WL1"; package = { r_konvec = 0.2; };' 'r_konvec'
bad 'seed = 1; mix = "WL1" policy' 'syntax error'
bad 'seed = 1; mix = "WL1";
sensor = {
  period_s = 0.0025; };' 'bad.cfg:3: sensor.period_s = 0.0025 s is not a multiple of tick_s'
bad 'seed = 1; mix = "WL1";
policy = "MA"; mix_policy = { slice_s = 0.0033; };' 'bad.cfg:2: mix_policy.slice_s = 0.0033 s is not a multiple of tick_s'
bad 'seed = 1; mix = "WL1"; tick_s = 0.005;
policy = "MA"; mix_policy = { slice_s = 0.0006; };' 'bad.cfg:2: mix_policy.slice_s = 0.0006 s is not a multiple of tick_s'
bad 'seed = 1; mix = "WL1"; tick_s = 0.005;
policy = "A"; mix_policy = { slice_s = 0.002; };' 'bad.cfg:2: mix_policy.slice_s = 0.002 s is not a multiple of tick_s'
printf 'seed = 1; mix = "WL1"; rows = 8; cols = 8; tick_s = 0.005; policy = "A"; mix_policy = { slice_s = 0.0005; };\n' > bad.cfg
"$thermix" check bad.cfg > out.txt || fail "slices of which a tick has whole pairs are refused"
bad 'seed = 1; mix = "WL1";
tick_s = 0.02; quantum_s = 0.05;' 'bad.cfg:2: quantum_s = 0.05 s is not a multiple of tick_s'
bad 'seed = 1; mix = "WL1"; warmup_s = 0.0015;' 'bad.cfg:1: warmup_s = 0.0015 s is not a multiple'
bad 'seed = 1; mix = "WL1"; sensor = { period_s = 0.01; delay_s = 0.015; };' 'sensor.delay_s = 0.015 s is not a multiple of sensor.period_s'
printf 'name = "big"; launch = { threads_per_block = 512; registers_per_thread = 60; }; power = { sm_power_w = 50.0; };\n' > big.cfg
printf 'name = "m"; kernels = ( { kernel = "%s/big.cfg"; work_s = 1.0; } );\n' "$dir" > m.cfg
bad "seed = 1; mix = \"$dir/m.cfg\";" 'fits on no SM'
printf 'name = "m"; kernels = ( );\n' > m.cfg
bad "seed = 1; mix = \"$dir/m.cfg\";" 'no kernels'
mkdir -p chip && cp "$root"/floorplans/gtx280/* chip/ && sed -i '/^SM07/d; s/^SM08\(.*\)/X08\1/' chip/gtx280.flp
bad "seed = 1; mix = \"WL1\"; chip = \"$dir/chip\";" 'gtx280.flp'
expect 1 'runaway' "$thermix" run a.cfg -q -o hot --set chip_power.leakage_w=400
[ -s hot/summary.csv ] || fail "runaway loses the partial results"
expect 1 'no progress' "$thermix" run a.cfg -q --set leakage=false --set package.ambient=364.15 --set package.init_temp=364.15 --set stuck_s=60
expect 2 'which configuration' "$thermix" run

# why a run was slow: causes that sum to the slowdown, and steps of knobs that agree with runs of their own
sed 's/"MA"/"BL"/' a.cfg > bl.cfg
hot="--set throttle.trip_c=75 --set throttle.release_c=74" # so that something is lost
"$thermix" run bl.cfg -q -o bl $hot
slow=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "slowdown_pct") c = i } NR == 2 { print $c }' bl/summary.csv)
"$thermix" explain bl --format csv -o why.svg > causes.csv
awk -F, -v s="$slow" 'NR > 1 { n++; t += $2 } END { d = t - s; exit !(n == 9 && d < 1e-6 && d > -1e-6) }' causes.csv || fail "causes do not sum to $slow: $(cat causes.csv)"
[ -s why.svg ] && [ -s why.figure/data/explain.csv ] || fail "explain draws nothing"
"$thermix" explain bl > words.txt
set=$(sed -n '/ K colder$/ { n; s/ *--set //p; }' words.txt); want=$(sed -n 's/^ *\([0-9.]*\) % .* K colder$/\1/p' words.txt)
"$thermix" run bl.cfg -q -o colder $hot --set "$set"
got=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "slowdown_pct") c = i } NR == 2 { printf "%.2f", $c }' colder/summary.csv)
[ "$want" = "$got" ] || fail "explain says $want of --set $set, the run $got"

# 5. a signal
"$thermix" run a.cfg -q -o stopped --trace 1 --set warmup_s=100000 2> err.txt & pid=$!
sleep 1; kill -INT $pid; got=0; wait $pid || got=$?
[ "$got" = 1 ] || fail "stopped run exits with $got"
grep -q 'partial results' err.txt && [ -s stopped/trace.csv ] && [ -s stopped/summary.csv ] || fail "a stopped run loses its results"
echo "1 passed, 0 failed"
