#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Node dgx-a100 under AccelWattch's kernels, the governor and its fans, in closed loop: what the front row gives off is what warms the rear
# row's air, fans follow the hottest sensor, and in air of 65 degC (and the memory without a limit) the target holds.    dgx_a100.sh THERMIX ROOT
set -uo pipefail
thermix=$1
export THERMIX_DATA=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
sed 's/300.0/250.0/' "$2/workloads/mixes/aw8.cfg" >mix.cfg
sed 's/^inlet_c = .*/inlet_c = 65.0;/' "$2/systems/dgx-a100.cfg" >warm.cfg
coarse=(--set mix=./mix.cfg --set rows=8 --set cols=8)
go() { # go NAME [--set ...]: the last second of each GPU in last.csv: gpu mhz watts hottest inlet rpm, and the hottest ever
  name=$1
  shift
  "$thermix" run dgx-a100 "${coarse[@]}" "$@" -o "$name" --trace 10 >screen.txt 2>err.txt || { cat err.txt; exit 1; }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 > 0 { if ($c["hottest_c"] > most) most = $c["hottest_c"] }
    $1 == 250 { print $c["gpu"], $c["freq_mhz"], $c["power_w"], $c["hottest_c"], $c["inlet_c"], $c["fan_rpm"] } END { print "most", most }' "$name/trace.csv" >last.txt
}
go cool
# lane: 0.6 / 8 m3/s at 6720 rpm, air 1066.413 J/(m3 K); front 0 3 4 7 warms rear 1 2 5 6
awk '$1 == "most" { most = $2; next } { w[$1] = $3; t[$1] = $4; in_c[$1] = $5; rpm = $6; mhz += $2 / 8 }
  END {
    split("0 3 4 7", front); split("1 2 5 6", rear)
    for (k = 1; k <= 4; k++) {
      air = (in_c[rear[k]] - in_c[front[k]]) * 1066.413 * 0.6 / 8 * rpm / 6720
      printf "front %d: %.1f W, %.1f W to the air, hottest %.1f and %.1f degC, air %.2f and %.2f\n", front[k], w[front[k]], air, t[front[k]], t[rear[k]], in_c[front[k]], in_c[rear[k]]
      if (air < 0.93 * w[front[k]] || air > 1.03 * w[front[k]] || in_c[front[k]] != 24.3) bad = 1
    }
    printf "fans %g rpm, clock %g MHz\n", rpm, mhz
    # the curve: 0.45 of 6720 rpm at 45 degC, 0.6 at 60, 0.85 at 70, 1 at 78
    want = most < 60 ? 0.45 + (most - 45) * 0.01 : most < 70 ? 0.6 + (most - 60) * 0.025 : 0.85 + (most - 70) * 0.01875
    if (mhz != 1410 || rpm < 6720 * want - 250 || rpm > 6720 * want + 250 || t[1] < t[0] + 3) bad = 1
    exit bad }' last.txt || { echo "FAILED: in air of 24.3 degC"; bad=1; }
go warm --set dtm.memory_c=150.0 --set topology=./warm.cfg
awk '$1 == "most" { most = $2; next } { rpm = $6; slow += $2 < 1410; front += $2 * ($1 == 0); rear += $2 * ($1 == 1) }
  END { printf "65 degC: %d GPUs below 1410 MHz, front %g, rear %g, hottest ever %.2f degC, %g rpm\n", slow, front, rear, most, rpm
    exit !(most <= 86.5 && most > 84 && slow >= 2 && rear < front && rpm == 6720) }' last.txt || { echo "FAILED: in air of 65 degC"; bad=1; }
exit ${bad:-0}
