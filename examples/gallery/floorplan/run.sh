#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A floorplan what-if. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
for place in edges spread centre; do
  thermix floorplan generate --sms 30 --per-tpc 3 --die 24x24mm --sm-area 10 --place "$place" -o "$1/$place.flp"
done
(cd "$1" && thermix floorplan compare edges.flp spread.flp centre.flp --suite short -o compare)
thermix plot "$1/compare" --figure floorplan_maps -q -o "$1/figure.svg"
