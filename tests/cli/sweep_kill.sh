#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A study killed at random moments and resumed holds exactly the rows of an uninterrupted one: alone, in three shards
# that are merged, with two writers on one database. Usage: sweep_kill.sh SWEEP_PROGRAM SQLITE_DUMP THERMIX [KILLS]
set -euo pipefail
sweep=$1 dump=$2 thermix=$3 kills=${4:-12}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo 'y = 1;' >base.cfg
cat >study.cfg <<'S'
name = "kill"; base = "base.cfg"; set = ("sleep_ms=12");
axes = ( { key = "x"; range = { from = -1; to = 20; steps = 22; }; }, { key = "y"; values = [1, 2, 3, 4, 5, 6]; } );
S
"$sweep" ./study.cfg -o whole.sqlite -q -j 4 >/dev/null || [ $? = 1 ] # some points fail
"$dump" whole.sqlite >whole.txt
[ "$(grep -c '^run' whole.txt)" = 132 ]
seed=${TMX_TEST_SEED:-$$}
echo "random seed $seed"
RANDOM=$seed

# strike PID...: kill -9 one of them after 10 to 410 ms; the others end by themselves
strike() {
  local pids=("$@") p
  sleep "$(printf '0.%03d' $((RANDOM % 400 + 10)))"
  p=${pids[$((RANDOM % ${#pids[@]}))]}
  kill -9 "$p" 2>/dev/null || true
}
same() { # same DATABASE: nothing lost, doubled or different
  "$dump" "$1" >got.txt
  cmp whole.txt got.txt
}

survived=0
for ((round = 0; 3 * round < kills; round++)); do
  # alone: each study takes several kills, so that late runs are hit, too
  [ $((round % 4)) != 0 ] || rm -f killed.sqlite*
  "$sweep" ./study.cfg -o killed.sqlite -q -j 2 >/dev/null 2>&1 &
  pid=$!
  strike $pid
  wait $pid 2>/dev/null || true
  if [ $((round % 4)) = 3 ] || [ $((3 * round + 3)) -ge "$kills" ]; then
    before=$("$dump" killed.sqlite 2>dump.txt | grep -c '^run' || true)
    "$sweep" ./study.cfg -o killed.sqlite -q -j 4 >last.txt || [ $? = 1 ]
    grep -q "132 distinct runs: $before there before" last.txt || { cat last.txt dump.txt; echo "FAILED: $before rows before"; exit 1; }
    same killed.sqlite
    survived=$((survived + before))
  fi
  # three shards, one is killed and resumed, then merged
  rm -f part*.sqlite* all.sqlite*
  "$sweep" ./study.cfg -o part1.sqlite -q -j 2 --shard 1/3 >/dev/null 2>&1 & a=$!
  "$sweep" ./study.cfg -o part2.sqlite -q -j 2 --shard 2/3 >/dev/null 2>&1 & b=$!
  "$sweep" ./study.cfg -o part3.sqlite -q -j 2 --shard 3/3 >/dev/null 2>&1 & c=$!
  strike $a $b $c
  wait $a $b $c 2>/dev/null || true
  for i in 1 2 3; do "$sweep" ./study.cfg -o part$i.sqlite -q -j 2 --shard $i/3 >/dev/null || [ $? = 1 ]; done
  "$thermix" merge part1.sqlite part2.sqlite part3.sqlite -o all.sqlite >/dev/null
  same all.sqlite
  # two writers on one database, one is killed
  rm -f two.sqlite*
  "$sweep" ./study.cfg -o two.sqlite -q -j 2 >/dev/null 2>&1 & a=$!
  "$sweep" ./study.cfg -o two.sqlite -q -j 2 >/dev/null 2>&1 & b=$!
  strike $a $b
  wait $a 2>/dev/null || true
  wait $b 2>/dev/null || true
  "$sweep" ./study.cfg -o two.sqlite -q -j 2 >/dev/null || [ $? = 1 ]
  same two.sqlite
done
echo "$((3 * round)) kills: $survived rows survived those of the lone study; always 132 in the end, equal to an uninterrupted study"
