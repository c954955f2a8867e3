#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Readings of paper 003 that are keys of a run reach the run: what waits for memory keeps its time under a slower clock, and
# the gains of intermixing that Table 3 measured shorten a mix. (The rules themselves have unit tests.)    readings.sh THERMIX
. "$(dirname "$0")/begin.sh"
makespan() { # makespan MIX POLICY --set ... -> seconds
  mix=$1 policy=$2
  shift 2
  "$thermix" run wl1 --set mix="$mix" --set policy="$policy" --set tick_s=0.05 --set rows=8 --set cols=8 --set warmup_s=0 "$@" -q -o run > /dev/null
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c = $i == "makespan_s" ? i : c } NR == 2 { print $c }' run/summary.csv
}
is() { # is "AWK CONDITION ON a AND b" A B
  awk -v a="$2" -v b="$3" "BEGIN { exit !($1) }" || { echo "FAILED: a = $2, b = $3, not $1"; exit 1; }
}

# thresholds that a warm chip is always above: the whole mix on the slowest clock; half of it, Dotp, waits for memory
slow="--set dtm.emergency_c=50 --set dtm.release_c=45"
a=$(makespan WL3 DVFS $slow --set memory_bound_time=false)
b=$(makespan WL3 DVFS $slow --set memory_bound_time=true)
is 'a - b > 20 && b > 800' "$a" "$b"

a=$(makespan WL3 MU --set measured_gains=false)
b=$(makespan WL3 MU --set measured_gains=true)
is 'b < a / 1.04 && b > a / 1.07' "$a" "$b" # Table 3: 5.43 % under mixed uniform
echo "1 passed, 0 failed"
