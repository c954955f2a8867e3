#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# systems/hgx-b200 in closed loop with its fans, beside the node it is calibrated to: means of the last minutes of three runs of
# workloads/measured/b200_hgx8.csv.gz with automatic fans.    hgx_b200.sh THERMIX ROOT
set -uo pipefail
thermix=$1
export THERMIX_DATA=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
# watts a GPU, then measured: front and rear row [degC], rpm. The rows' difference may be 16 % off: the scatter of the measured ones over eight
# combinations of watts and rpm (25 % were missed at 198 W before heat on the way between the rows, systems/hgx-b200.cfg)
while read -r watts front rear rpm; do
  sed "s/sm_power_w = .*/sm_power_w = $((watts - 145)).0;/; s/^name = .*/name = \"load\";/" "$2/workloads/kernels/gpu_burn.cfg" >load.cfg
  sed 's/"gpu_burn"/".\/load.cfg"/' "$2/workloads/mixes/burn8.cfg" >mix.cfg
  "$thermix" run hgx-b200 --set mix=./mix.cfg -o out --trace 10 >screen.txt 2>err.txt || { cat err.txt; exit 1; }
  grep -E '^mean_rpm' screen.txt >rpm.txt
  awk -F, -v f="$front" -v r="$rear" -v n="$rpm" -v w="$watts" '
    FILENAME == "rpm.txt" { split($0, a, " "); got = a[2]; next }
    $1 == 600 { if ($2 == 0 || $2 == 3 || $2 == 4 || $2 == 7) front += $6 / 4; else rear += $6 / 4; power = $5 }
    END {
      printf "%d W: front %.1f (measured %.1f), rear %.1f (%.1f), difference %.1f (%.1f), %d rpm (%d)\n", power, front, f, rear, r, rear - front, r - f, got, n
      d = (rear - front) / (r - f) - 1
      if (power != w || d > 0.16 || d < -0.16 || front - f > 1.5 || f - front > 1.5 || rear - r > 1.5 || r - rear > 1.5 || got > 1.1 * n || got < 0.88 * n) exit 1
    }' rpm.txt out/trace.csv || { echo FAILED; bad=1; }
done <<'M'
198 35.3 42.5 3001
399 43.8 52.2 3848
641 50.7 59.4 5763
M
exit ${bad:-0}
