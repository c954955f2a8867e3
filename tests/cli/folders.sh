#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A folder holds what one command wrote: replaced by the next, never mixed; what no list names stays.
# Usage: folders.sh THERMIX
set -euo pipefail
thermix=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
fail() { echo "FAILED: $*"; exit 1; }
files() { (cd "$1" && find . ! -type d ! -name manifest.csv | sed 's,^\./,,' | LC_ALL=C sort); }
listed() { sed '1d; /,input,/d; s/^[^,]*,[^,]*,\([^,]*\),.*/\1/' "$1/manifest.csv" | LC_ALL=C sort; }
whole() { # all that the folder holds is in its list, and nothing else is
  diff <(files "$1") <(listed "$1") || fail "$1: its list and its files"
  ! grep -v ',complete,\|,input,' "$1/manifest.csv" | sed 1d | grep . || fail "$1: not complete"
}
run() { "$thermix" run study --set rows=8 --set cols=8 --set tick_s="${tick:-0.01}" --set warmup_s=5.0 -q "$@"; }

# A run twice; then without its traces.
for i in 1 2; do
  run -o out --trace 1 --hotspot 1
  whole out
  [ -f out/thermal.config ] || fail "run $i: no thermal.config"
done
"$thermix" plot out -o out/figures -q || fail "plot"
"$thermix" report out -o r.html >/dev/null || fail "report"
whole out/figures
rm -r out/figures
"$thermix" plot out -o out -q # figures beside their results
whole out
"$thermix" explain out >/dev/null || fail "explain of a folder with figures"
echo mine >out/mine.txt
chmod 600 out/summary.csv
run -o out
[ "$(files out)" = "$(printf '%s\n' floorplan_gpu0.flp folder.cfg gpus.csv kernels.csv mine.txt ramp.csv resolved.cfg summary.csv)" ] || fail "a run without traces: $(files out)"
[ "$(stat -c %a out/summary.csv)" = 600 ] || fail "permissions of a file that is replaced"
rm out/mine.txt
code=0; "$thermix" run out/resolved.cfg -o out -q 2>err.txt || code=$?
[ $code = 2 ] && grep -q 'resolved.cfg: an output would replace this input' err.txt || fail "a run into the folder of its input"
whole out

# A run that lost nothing has its figure, too.
tick=0.005 run -o cool --set package.ambient=290.0
"$thermix" explain cool --no-steps -o cool.svg >cool.txt || fail "the figure of a run that lost nothing"
grep -q 'lost 0.00 %' cool.txt && grep -q '</svg>' cool.svg || fail "a run that lost nothing: $(head -1 cool.txt)"

# Another suite: nothing of the first, but the journal.
suite() { # NAME MIX WORDS
  printf 'kind = "tabs"; name = "%s"; mixes = ["%s"]; policies = ["BL", "MU"]; %s\nbase = { chip = "gtx280"; seed = 1; tick_s = 0.01; warmup_s = 5.0; rows = 8; cols = 8; };\n' "$@" >"$1.cfg"
}
suite one hot_hot 'paper = "x"; values = ({ figure = "1"; quantity = "q"; of = "mean"; policy = "MU"; column = "slowdown_pct"; value = 5.0; band = 1.0; origin = "unseen"; });
variants = ({ name = "a"; set = []; }, { name = "b"; set = ["seed=2"]; });'
suite two hot_cold ''
"$thermix" table one.cfg -o t -q >/dev/null
[ -f t/paper.csv ] || fail "no paper.csv"
"$thermix" plot t -o f -q
cp -r f f.one
"$thermix" table two.cfg -o t -q >/dev/null
[ ! -e t/paper.csv ] || fail "paper.csv of another suite"
"$thermix" plot t -o f -q
"$thermix" plot t -o fresh -q
diff -r f fresh || fail "figures of another suite"
"$thermix" plot t -o f -q --figure nosuch 2>/dev/null && fail "a figure that is none"
diff -r f fresh || fail "a refused plot took figures away"
"$thermix" plot t -o f.pdf -q --figure slowdown
cp f.pdf first.pdf
sleep 1.1
"$thermix" plot t -o f.pdf -q --figure slowdown
cmp f.pdf first.pdf || fail "the same figure, another file"
! diff -rq f f.one >/dev/null || fail "both suites have the same figures"
cp -r t tab
run -o t
[ ! -e t/table.csv ] || fail "a table beside a run"
rm -f t/runs.* && whole t

# Films have no pictures of earlier ones.
if command -v ffmpeg >/dev/null; then
  run -o run --hotspot 1
  "$thermix" animate run -o x.mp4 --frames 2 --keep >/dev/null
  whole x.mp4.frames
  "$thermix" animate run -o x.mp4 --frames 1 --keep >/dev/null
  [ "$(ls x.mp4.frames/*.png | wc -l)" -le 1 ] || fail "pictures of an earlier film"
  whole x.mp4.frames
  "$thermix" animate run -o y.mp4 --frames 1 >/dev/null && [ -s y.mp4 ] && [ ! -e y.mp4.frames ] || fail "a film leaves its pictures"
fi

# A list leads nowhere else: no name with .., nothing behind a link, and a list of another make is refused.
mkdir -p l outside; echo keep >outside/data.csv; echo keep >kept.csv
ln -s ../outside l/data
printf 'run,status,file,hash,command\n,complete,data/data.csv,,plot\n' >l/manifest.csv
run -o l
[ -f outside/data.csv ] || fail "a file behind a link"
for name in ../kept.csv "$dir/kept.csv" data/../../kept.csv; do
  printf 'run,status,file,hash,command\n,complete,%s,,run\n' "$name" >l/manifest.csv
  code=0; run -o l 2>err.txt || code=$?
  [ $code = 2 ] && grep -q 'manifest.csv:2: ' err.txt && [ -f kept.csv ] || fail "a list with $name: $code $(cat err.txt)"
done
mkdir -p own; printf 'name,bytes\na,1\n' >own/manifest.csv; cp own/manifest.csv own.csv
code=0; run -o own 2>err.txt || code=$?
[ $code = 2 ] && cmp own/manifest.csv own.csv && grep -q 'not a list that thermix wrote' err.txt || fail "a list of another make"

# Killed: an earlier folder is whole, or the next command clears what there is.
run -o kill --trace 1
cp -r kill before
"$thermix" run wl1 -q -o kill --hotspot 1 & pid=$!
sleep 0.2; kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null || true
if ! cmp -s kill/manifest.csv before/manifest.csv; then echo "the killed run had ended"; else diff -r kill before || fail "a killed run changed the folder"; fi
"$thermix" run wl1 -q -o kill --hotspot 1 & pid=$!
sleep 0.3; kill -INT $pid 2>/dev/null; code=0; wait $pid || code=$?
[ ! -f kill/trace.csv ] || cmp -s kill/manifest.csv before/manifest.csv || fail "Ctrl-C: a mixture"
sed -i 's/,complete,/,writing,/; s/\([^,]*,writing,[^,]*\),[^,]*,/\1,,/' before/manifest.csv # as a command leaves it that is killed while it writes
code=0; "$thermix" plot before -o x 2>err.txt || code=$?
[ $code != 0 ] && grep -q 'was stopped before its end' err.txt || fail "a folder that was not written to its end: $(cat err.txt)"
run -o before
whole before

# Ended by a signal between two figures: those that are drawn are in the list, as partial; nothing else stays.
mkdir slow
printf '#!/bin/sh\n[ "$1" = --version ] || sleep 0.4\nexec %s "$@"\n' "$(command -v gnuplot)" >slow/gnuplot
chmod +x slow/gnuplot
PATH=$dir/slow:$PATH "$thermix" plot tab -o stopped -q 2>err.txt & pid=$!
for _ in $(seq 100); do ls stopped/*.svg >/dev/null 2>&1 && break; sleep 0.05; done
kill -TERM $pid; code=0; wait $pid || code=$?
[ $code = 143 ] && grep -q 'stopped by a signal' err.txt || fail "a plot that is ended: $code $(cat err.txt)"
diff <(files stopped) <(listed stopped) || fail "a plot that is ended: its list and its files"
grep -q ',partial,.*svg,' stopped/manifest.csv || fail "a plot that is ended: not partial: $(cat stopped/manifest.csv)"
! grep ',writing,' stopped/manifest.csv || fail "a plot that is ended: still writing"

# Two at once: one of them, whole.
for i in 1 2 3; do
  run -o both --set policy=BL --trace 1 & one=$!
  run -o both --set policy=MU --hotspot 1 & two=$!
  wait $one && wait $two || fail "two at once"
  whole both
  if [ -f both/trace.csv ]; then [ ! -f both/temps.ttrace ] || fail "two runs mixed"; fi
done
# Two suites at once: each prints its own numbers.
table() { "$thermix" table short --policy BL,MU -o "$@" -q -j 1 --format csv --set rows=8 --set cols=8; }
for t in 0.005 0.02; do table lone --set tick_s=$t >lone$t.csv; done
table suites --set tick_s=0.005 >0.005.csv & one=$!
for _ in $(seq 200); do [ -f suites/runs.sqlite ] && break; sleep 0.02; done
sleep 0.1; table suites --set tick_s=0.02 >0.02.csv 2>err.txt && wait $one || fail "two suites at once"
for t in 0.005 0.02; do cmp lone$t.csv $t.csv || fail "two suites at once: tick_s = $t"; done
# A run's folder stands for its configuration; a calibration's does not.
"$thermix" run both -o again -q && cmp -s both/summary.csv again/summary.csv || fail "a run of a run's folder"
mkdir calibrated && touch calibrated/node.cfg
code=0
"$thermix" run calibrated -q 2>err.txt || code=$?
[ $code = 2 ] && grep -q 'a folder of `thermix calibrate`: .*--set topology=calibrated/node.cfg' err.txt || fail "run calibrated: $code $(cat err.txt)"
echo "folders are replaced, never mixed"
