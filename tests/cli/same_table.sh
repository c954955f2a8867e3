#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The same bytes of table.csv and of a traced run from every build of this tree (gcc and clang, debug and release: those that are
# configured, brought up to date first) and for each level of x86-64 that kernels are compiled for.    same_table.sh THERMIX ROOT
set -euo pipefail
thermix=$1 root=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export THERMIX_DATA=$root ASAN_OPTIONS=detect_leaks=0
programs=("$thermix")
for preset in debug release debug-clang release-clang; do
  [ -f "$root/build/$preset/build.ninja" ] || continue
  cmake --build "$root/build/$preset" --target thermix-cli >"$dir/build.log" 2>&1 || { tail "$dir/build.log"; exit 1; }
  programs+=("$root/build/$preset/cli/thermix")
done
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" >"$dir/suite.cfg"
cd "$dir"
n=0
for p in "${programs[@]}"; do
  for isa in any v3 v4; do
    export THERMIX_ISA=$isa XDG_CACHE_HOME=$dir/cache$n # its own set-up, too
    "$p" table ./suite.cfg -j 2 -o "table$n" -q >/dev/null
    "$p" run wl1 --set rows=16 --set cols=16 --set tick_s=0.005 -o "run$n" --trace 0.5 -q
    cmp table0/table.csv "table$n/table.csv" || { echo "FAILED: $p, $isa: another table"; exit 1; }
    for f in summary.csv kernels.csv trace.csv; do
      cmp "run0/$f" "run$n/$f" || { echo "FAILED: $p, $isa: another $f"; exit 1; }
    done
    echo "the same: $p, $isa"
    n=$((n + 1))
  done
done
