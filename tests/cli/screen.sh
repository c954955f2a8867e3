#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What people see: no line is wider than the terminal, at three widths; the short form of a suite; --columns.
#   screen.sh THERMIX
set -uo pipefail
thermix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v script >/dev/null || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export THERMIX_DATA=$root XDG_CACHE_HOME=$dir/cache LC_ALL=C.UTF-8
say() { echo "FAILED: $*"; exit 1; }
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" >suite.cfg

on() { # on WIDTH ARGUMENT...: the screen into screen.txt
  local width=$1
  shift
  script -qec "stty cols $width; '$thermix' $*" /dev/null 2>&1 </dev/null | tr -d '\r' >screen.txt
  [ "$(wc -L <screen.txt)" -le "$width" ] || say "$* on $width columns: $(wc -L <screen.txt) wide: $(cat screen.txt)"
}
for width in 80 100 200; do
  on $width table ./suite.cfg -q -o out
  grep -q '^slowdown_pct ' screen.txt && grep -q '^mean ' screen.txt || say "no matrix: $(cat screen.txt)"
  grep -q 'out/table.csv' screen.txt || say "where are the files? $(cat screen.txt)"
  on $width table ./suite.cfg -q -o out --columns all
  grep -q 'leakage_j' screen.txt || say "--columns all lacks leakage_j"
  on $width table ./suite.cfg -q -o out --columns mix,policy,leakage_j
  [ "$(head -1 screen.txt | tr -s ' ')" = 'mix policy leakage_j' ] || say "--columns: $(head -1 screen.txt)"
  on $width power fit "$root/workloads/training/rodinia_c1060.csv"
  on $width list mixes
done
"$thermix" table ./suite.cfg -q -o out --columns nope 2>err.txt >/dev/null && say "a column that is not there"
grep -q 'no column "nope"; there are mix, policy' err.txt || say "$(cat err.txt)"
"$thermix" table ./suite.cfg -q -o out --format csv | cmp - out/table.csv || say "--format csv is not table.csv"
echo "screens of 80, 100 and 200 columns"
