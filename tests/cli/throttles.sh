#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The baseline of paper 003 throttles: "all the SMs occasionally reach the critical temperature", clocks stop for
# seconds and run again. A share of lost time cannot tell that from SMs that switch off for good, which is what happens where
# SMs stop one by one, and what this test must be able to see.    throttles.sh THERMIX
. "$(dirname "$0")/begin.sh"

# one mix under BL of a shipped suite, coarser in space and time
only() { # only SUITE OPTION... -> column names and one row in one/table.csv
  awk -v OFS= '
    /^compare = / { next }
    /^mixes = / { print "mixes = [\"WL7\"];"; next }
    /^policies = / { print "policies = (\"BL\");"; skip = 1 }
    /^(beside|values|variants) = / { skip = 1 }
    !skip { print }
    /^\);/ { skip = 0 }' "$root/workloads/suites/$1.cfg" | sed "s|\"tabs/|\"$root/workloads/suites/tabs/|" > one.cfg
  shift
  "$thermix" table ./one.cfg -q -o one --set tick_s=0.025 --set rows=32 --set cols=32 "$@" > one.txt
}
value() { # value COLUMN
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c = $i == name ? i : c } NR == 2 { print $c }' one/table.csv
}
is() { # is "AWK CONDITION ON v" COLUMN
  v=$(value "$2")
  awk -v v="$v" "BEGIN { exit !($1) }" || fail "$suite: $2 = $v, not $1"
}

for suite in tabs tabs-leaky; do
  only $suite
  is 'v == 0' latched_sm
  is 'v == 30' sms_gated
  is 'v > 0 && v <= 10' longest_gating_s
  is 'v > 0 && v <= 20' gating_period_s
  is 'v > 30 * 10' trips
done
is 'v >= 20' sms_near_trip
# SM by SM, which the summary and the screen say
suite="tabs, SM by SM"; only tabs --set throttle.scope=sm
is 'v > 100' longest_gating_s
is 'v > 0 && v < 30' latched_sm
grep -q 'stood still for more than 10 s' one.txt || fail "a latched throttle is not named: $(cat one.txt)"
echo "1 passed, 0 failed"
