#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Four MPI ranks give the database of processes on one machine; a killed rank costs only what was running.
# Usage: sweep_mpi.sh SWEEP_PROGRAM SQLITE_DUMP
set -euo pipefail
sweep=$1 dump=$2
if ! command -v mpirun >/dev/null || ! ldd "$sweep" | grep libmpi >/dev/null; then
  echo "no MPI installed or not built with it: skipped"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
mpi() { timeout 60 mpirun --oversubscribe --mca btl_base_warn_component_unused 0 -n 4 "$@"; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo 'y = 1;' >base.cfg
cat >study.cfg <<'S'
name = "mpi"; base = "base.cfg"; set = ("sleep_ms=50");
axes = ( { key = "x"; range = { from = -1; to = 20; steps = 22; }; }, { key = "y"; values = [1, 2, 3]; },
         { key = "crash"; values = [false]; } );
S
"$sweep" ./study.cfg -o one.sqlite -q -j 4 >/dev/null || [ $? = 1 ] # some points fail
mpi "$sweep" ./study.cfg -o four.sqlite -q || [ $? = 1 ]
"$dump" one.sqlite >one.txt
"$dump" four.sqlite >four.txt
cmp one.txt four.txt
echo "four ranks: the same database as one process"

# Start the study and kill a worker rank in its midst; fails when the study was faster.
kill_rank() {
  rm -f killed.sqlite*
  mpi "$sweep" ./study.cfg -o "$dir/killed.sqlite" -q >/dev/null 2>&1 &
  local job=$! victim="" killed=1 p
  for _ in $(seq 100); do # a worker rank: not 0
    sleep 0.05
    for p in $(pgrep -f -- "-o $dir/killed.sqlite" || true); do
      if { tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null | grep -qx 'OMPI_COMM_WORLD_RANK=2' &&
        [ "$(ps -o comm= -p "$(ps -o ppid= -p "$p" | tr -d ' ')" 2>/dev/null)" != "$(ps -o comm= -p "$p")" ]; then
        victim=$p
      fi
    done
    [ -n "$victim" ] && [ -f killed.sqlite.log ] && [ "$(wc -l <killed.sqlite.log)" -ge 5 ] && break
  done
  kill -9 "$victim" 2>/dev/null && killed=0
  wait $job 2>/dev/null || true
  return $killed
}
for _ in 1 2 3 4 5; do
  kill_rank && break
done
before=$("$dump" killed.sqlite | grep -c '^run')
mpi "$sweep" ./study.cfg -o killed.sqlite -q >last.txt || [ $? = 1 ]
cat last.txt
"$dump" killed.sqlite >killed.txt
cmp one.txt killed.txt
grep -q "66 distinct runs: $before there before" last.txt
[ "$before" -ge 5 ] && [ "$before" -lt 66 ]
echo "a rank killed after $before runs: the rest done on restart, nothing twice"
