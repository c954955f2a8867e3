#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A study killed ten times at random moments and resumed holds exactly the rows of an
# uninterrupted one. Usage: sweep_kill.sh SWEEP_PROGRAM SQLITE_DUMP
set -euo pipefail
sweep=$1 dump=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo 'y = 1;' >base.cfg
cat >study.cfg <<'S'
name = "kill"; base = "base.cfg"; set = ("sleep_ms=12");
axes = ( { key = "x"; range = { from = -1; to = 20; steps = 22; }; }, { key = "y"; values = [1, 2, 3, 4, 5, 6]; } );
S
"$sweep" ./study.cfg -o whole.sqlite -q -j 4 >/dev/null
seed=${TMX_TEST_SEED:-$$}
echo "random seed $seed"
RANDOM=$seed
for i in 1 2 3 4 5 6 7 8 9 10; do
  "$sweep" ./study.cfg -o killed.sqlite -q -j 2 >/dev/null &
  pid=$!
  sleep "0.0$((RANDOM % 80 + 10))"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
done
before=$("$dump" killed.sqlite 2>/dev/null | grep -c '^run' || true)
"$sweep" ./study.cfg -o killed.sqlite -q -j 2 >last.txt
cat last.txt
"$dump" whole.sqlite >whole.txt
"$dump" killed.sqlite >killed.txt
cmp whole.txt killed.txt
[ "$(grep -c '^run' whole.txt)" = 132 ]
grep -q "132 distinct runs: $before there before" last.txt
echo "$before rows survived ten kills; 132 in the end, equal to an uninterrupted study"
