#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# MPI ranks share the GPUs of one run: every file and the screen are the bytes of one process, bad input is told once, and nobody
# waits for a rank that could not begin.    run_mpi.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
if ! command -v mpirun >/dev/null || ! ldd "$thermix" | grep libmpi >/dev/null; then
  echo "no MPI installed or not built with it: skipped"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
export THERMIX_DATA=$root
mpi() { # mpi RANKS ARGUMENTS
  local n=$1
  shift
  timeout 60 mpirun --oversubscribe --mca btl_base_warn_component_unused 0 -n "$n" "$thermix" "$@"
}
say() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=$dir/cache
cat >mix.cfg <<'M'
name = "m"; kernels = ( { kernel = "SVM"; work_s = 2.0; count = 8; }, { kernel = "Cmem"; work_s = 1.0; count = 5; arrival_s = 1.0; } );
M
cat >hall.cfg <<'H'
topology = "node-8gpu"; mix = "./mix.cfg"; policy = "MG-MU"; seed = 1; tick_s = 0.05; rows = 8; cols = 8; warmup_s = 1.0;
sensor = { period_s = 0.05; }; fan = { policy = "curve"; };
H
"$thermix" run ./hall.cfg -o one --trace 0.5 --hotspot 1 --format csv >one.txt || say "one process"
for n in 2 3; do
  mpi $n run ./hall.cfg -o ranks --trace 0.5 --hotspot 1 --format csv >ranks.txt 2>err.txt || say "$n ranks: $(cat err.txt)"
  diff one.txt <(tr -d '\r' <ranks.txt) || say "$n ranks: another screen"
  for f in one/*; do
    cmp "$f" "ranks/$(basename "$f")" || say "$n ranks: $f"
  done
  rm -rf ranks
done
mpi 2 run ./hall.cfg --set seed=x >out.txt 2>err.txt && say "a bad key is no error"
[ "$(grep -c 'seed' err.txt)" = 1 ] || say "bad input is told once: $(cat err.txt)"
mpi 2 run wl1 -q >out.txt 2>err.txt && say "two ranks for one GPU"
grep -q '2 MPI ranks for 1 GPU: expected one rank a GPU, at most' err.txt || say "two ranks for one GPU: $(cat err.txt)"
touch file
mpi 2 run ./hall.cfg -o file/out -q >out.txt 2>err.txt && say "rank 0 cannot write"
grep -q 'file/out' err.txt || say "rank 0 cannot write: $(cat err.txt)"
echo "ranks of one run: the same files as one process"
