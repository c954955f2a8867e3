#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The same bytes whatever a machine is: a set of commands at each level of x86-64 that kernels are compiled for, one thread and two in
# turns, each with a cache of its own. --builds: from every build of this tree, too (gcc and clang, debug and release: those that are
# configured, brought up to date first).
# Usage: same_table.sh THERMIX ROOT [--builds]
set -euo pipefail
thermix=$1 root=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export THERMIX_DATA=$root ASAN_OPTIONS=detect_leaks=0
programs=("$thermix")
if [ "${3:-}" = --builds ]; then
  for preset in debug release clang debug-clang release-clang; do
    [ -f "$root/build/$preset/build.ninja" ] || continue
    cmake --build "$root/build/$preset" --target thermix-cli >"$dir/build.log" 2>&1 || { tail "$dir/build.log"; exit 1; }
    programs+=("$root/build/$preset/cli/thermix")
  done
fi
cd "$dir"
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" >suite.cfg
sed 's/400\.0/40.0/' "$root/workloads/mixes/WL1.cfg" >mix.cfg
cp "$root"/examples/cooling/channels/{channels.config,lower.flp,upper.flp,stack.lcf} .
awk 'NR <= 10' "$root/examples/cooling/channels/power.ptrace" >cool.ptrace
printf 'a\t6e-3\t4e-3\t0\t0\nb\t4e-3\t4e-3\t6e-3\t0\nc\t1e-2\t6e-3\t0\t4e-3\n' >die.flp
{ printf 'a\tb\tc\n'; for i in $(seq 10); do printf '%d\t%d\t%d\n' $((i % 7 * 5)) $((i % 3 * 9)) $((i % 5 * 2)); done; } >die.ptrace
head -4 die.ptrace >short.ptrace # so few rows that the grid is cheaper than making a model
awk 'BEGIN { x = 5; print "timestamp, index, power.draw [W], temperature.gpu"
  for (i = 0; i < 240; i++) { p = i < 60 ? 25 : i < 180 ? 250 : 120; x += (p * 0.2 - x) / 60
    printf "2025/01/07 12:%02d:%02d.000, 0, %.1f W, %d\n", i / 60, i % 60, p, 25.5 + 0.06 * p + x } }' >card.csv
{ echo arrival_s,input_tokens,output_tokens; for i in $(seq 40); do echo "$((i / 4)).5,$((i * 211 % 3000 + 1)),$((i * 37 % 90 + 1))"; done; } >r.csv
cat >served.cfg <<'CFG'
chip = "a100"; gpus = 4; seed = 1; method = "lumped"; tick_s = 0.1; quantum_s = 0.1;
serve = { model = "llama2-70b"; tp = 4; requests = { file = "r.csv"; }; };
CFG

all() { # all PROGRAM THREADS FOLDER: from the folder above, whose path is in no output
  local p=$1 j=$2 o=$3
  "$p" table ./suite.cfg -j "$j" -o "$o/table" -q >/dev/null
  "$p" run wl1 --set mix=./mix.cfg --set rows=9 --set cols=7 --set tick_s=0.02 --set warmup_s=20 -o "$o/run" --trace 0.5 -q
  "$p" run served.cfg --threads "$j" -o "$o/served" --trace 1 -q
  "$p" thermal -f die.flp -p short.ptrace -grid_rows 13 -grid_cols 11 -o "$o/auto.ttrace" --precision 12 --quiet
  for network in hotspot physical; do
    for method in reduced grid; do
      "$p" thermal -f die.flp -p die.ptrace --network $network --method $method -grid_rows 13 -grid_cols 11 -o "$o/$network-$method.ttrace" --precision 12 --quiet
    done
    "$p" thermal -f die.flp -p die.ptrace --network $network -grid_rows 64 -grid_cols 64 -steady_file "$o/$network.steady" --precision 12 --quiet
  done
  "$p" thermal -f die.flp -p short.ptrace -grid_rows 13 -grid_cols 11 -o "$o/again.ttrace" --precision 12 --quiet
  cmp "$o/auto.ttrace" "$o/again.ttrace" || { echo "FAILED: --method auto follows the cache"; exit 1; }
  for method in reduced grid; do
    "$p" thermal -c channels.config --network physical -p cool.ptrace -grid_rows 8 -grid_cols 8 --method $method -o "$o/cool-$method.ttrace" --precision 12 --quiet
  done
  "$p" calibrate card.csv -o "$o/cal" --no-figures -q >/dev/null
  "$p" bound ./suite.cfg --format csv >"$o/bound.csv" || grep -q GLPK "$o/bound.csv"
}

n=0
for p in "${programs[@]}"; do
  if ldd "$p" | grep -E 'openblas|libblas|liblapack|libmkl'; then # these choose their kernels, and so the last bits, by processor
    echo "FAILED: $p links a BLAS that chooses by processor"
    exit 1
  fi
  for isa in any v3 v4; do
    threads=$((1 + n % 2))
    mkdir "$n"
    XDG_CACHE_HOME=$dir/cache$n THERMIX_ISA=$isa all "$p" "$threads" "$n"
    if [ "$n" != 0 ] && ! diff -r --exclude='*.sqlite*' 0 "$n" >differs.txt; then
      head -20 differs.txt | cut -c1-200
      echo "FAILED: $p, $isa, $threads threads"
      exit 1
    fi
    [ "$n" = 0 ] || rm -rf "$n" "cache$n"
    n=$((n + 1))
  done
done
echo "$n times the same bytes"
