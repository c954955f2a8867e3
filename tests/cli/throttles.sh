#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The baseline of paper 003 throttles: "all the SMs occasionally reach the critical temperature", clocks stop for
# seconds and run again. A share of lost time cannot tell that from SMs that switch off for good, which is what parameter
# set H does and what this test must be able to see.    throttles.sh THERMIX
. "$(dirname "$0")/begin.sh"

# one mix under BL of a shipped suite, coarser in space and time
only() { # only SUITE -> column names and one row in one.csv
  awk -v OFS= '
    /^compare = / { next }
    /^mixes = / { print "mixes = [\"WL7\"];"; next }
    /^policies = / { print "policies = (\"BL\");"; skip = 1 }
    /^(beside|values|variants) = / { skip = 1 }
    !skip { print }
    /^\);/ { skip = 0 }' "$root/workloads/suites/$1.cfg" > one.cfg
  "$thermix" table ./one.cfg -q -o one --set tick_s=0.025 --set rows=32 --set cols=32 > /dev/null
}
value() { # value COLUMN
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c = $i == name ? i : c } NR == 2 { print $c }' one/table.csv
}
is() { # is "AWK CONDITION ON v" COLUMN
  v=$(value "$2")
  awk -v v="$v" "BEGIN { exit !($1) }" || fail "$suite: $2 = $v, not $1"
}

suite=tabs; only $suite
is 'v >= 20' sms_near_trip
is 'v == 30' sms_gated
is 'v > 0 && v <= 10' longest_gating_s
is 'v > 0 && v <= 10' gating_period_s
is 'v > 30 * 10' trips
suite=tabs-h; only $suite
is 'v < 20' sms_gated
is 'v > 100' longest_gating_s
echo "1 passed, 0 failed"
