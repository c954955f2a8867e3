#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A floorplan optimised for time lost. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
f() { thermix floorplan "$@"; }
f generate --sms 30 --per-tpc 3 --die 24x24mm --sm-area 9.6 --place edges -o edges.flp
f split edges.flp --unit UNCORE0 --by 5x4 -o before.flp # pieces as large as an SM
f show before.flp --format csv | awk -F, 'NR > 1 { print $1, $1 ~ /^SM/ ? 4.5 : $1 ~ /^MC/ ? 6 : 1 }' >before.p
f optimise before.flp --power before.p --config "$here/../../../floorplans/gtx280/package.config" --set Rcool=0.8 --stay 'MC*' --mirrored \
  --for slowdown --suite short --mix WL1 -o after.flp
f compare before.flp after.flp --suite short --mix WL1 -o compare
thermix plot compare --figure floorplan_maps -q -o figure.svg
