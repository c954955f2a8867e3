#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The governor that vendors ship, on a GTX 770 whose air gets warmer: what slows it first is the power cap, then the target
# temperature, then the slowdown; the target is held, no limit is exceeded by more than a step of the sensor and 0.5 K; caps
# may be set per GPU; a chip that gets far too hot shuts down.    boost.sh THERMIX ROOT
set -eu
thermix=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export THERMIX_DATA="$2"
fail() { echo "FAILED: $*"; exit 1; }
sed 's/600.0/300.0/' "$2/workloads/mixes/burn1.cfg" > burn.cfg

# what slowed the last half most of the time, its mean MHz, lowest, highest and mean degC; highest of all; mean watts
go() { # go AMBIENT_C [--set ...] -> last; violation times in out/summary.csv
  kelvin=$(awk -v c="$1" 'BEGIN { printf "%.2f", c + 273.15 }')
  shift
  "$thermix" run gtx770-boost --set mix=./burn.cfg --set package.ambient="$kelvin" --trace 1 -o out "$@" > screen 2> err ||
    { cat err; fail "the run at $kelvin K"; }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { n++; mhz[n] = $col["freq_mhz"]; hot[n] = $col["hottest_c"]; w[n] = $col["power_w"]; why[n] = $col["reasons"]; if (hot[n] > peak) peak = hot[n] }
    END { for (i = int(n / 2); i < n; i++) { seen[why[i]]++; f += mhz[i]; t += hot[i]; p += w[i]; k++
                                             if (hot[i] > top) top = hot[i]; if (low == "" || hot[i] < low) low = hot[i] }
      for (r in seen) if (seen[r] > most) { most = seen[r]; main = r }
      print main, f / k, low, top, t / k, peak, p / k }' out/trace.csv > last
  cat last
}
check() { # check "AWK CONDITION" of the fields of last
  awk "{ exit !($1) }" last || fail "$1 at $2: $(cat last)"
}

seconds() { # seconds REASON "AWK CONDITION ON v"
  v=$(awk -F, -v name="$1_s" 'NR == 1 { for (i = 1; i <= NF; i++) c = $i == name ? i : c } NR == 2 { print $c }' out/summary.csv)
  awk -v v="$v" "BEGIN { exit !($2) }" || fail "$1: $v s, not $2"
}

power=99999
for row in '5 sw_power_cap' '45 sw_thermal_slowdown' '73 hw_thermal_slowdown'; do
  set -- $row
  go "$1"
  check "\$7 < $power" "$1 degC, less power than where it is cooler"
  power=$(awk '{ print $7 }' last)
  case $2 in
  sw_power_cap)  # board watts: (chip + 25 W) / 0.9
    seconds sw_power_cap 'v > 290'
    seconds sw_thermal_slowdown 'v == 0'
    check '($7 + 25) / 0.9 <= 231 && ($7 + 25) / 0.9 > 220' "$1 degC" ;;
  sw_thermal_slowdown)  # held within 1 K, passed by a step of 1 K and half a one at most
    seconds sw_thermal_slowdown 'v > 250'
    seconds hw_thermal_slowdown 'v == 0'
    check '$3 >= 82 && $4 <= 84 && $6 <= 84.5' "$1 degC" ;;
  *)
    seconds hw_thermal_slowdown 'v > 100'
    check '$4 > 94 && $6 <= 96.5' "$1 degC" ;;
  esac
done

go 5 --set 'power_caps_w=(180.0)'
check '($7 + 25) / 0.9 <= 181 && ($7 + 25) / 0.9 > 165' 'a cap of 180 W'
if "$thermix" run gtx770-boost --set 'power_caps_w=(180.0)' --set 'dtm={policy="dvfs";}' -o no > screen 2> err; then fail "a cap that nobody keeps"; fi
grep -q 'keeps none' err || { cat err; fail "who keeps caps is not said"; }
if "$thermix" run gtx770-boost --set 'power_caps_w=(180.0, 200.0)' -o no > screen 2> err; then fail "two caps for one GPU"; fi
if "$thermix" run gtx770-boost --set package.ambient=370 --set mix=./burn.cfg -o no > screen 2> err; then fail "97 degC air and no shutdown"; fi
grep -q 'GPU 0 shut down at' err || { cat err; fail "shutdown is not told"; }
echo "1 passed, 0 failed"
