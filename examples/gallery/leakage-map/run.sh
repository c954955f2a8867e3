#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Leakage against the heat sink. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix sweep "$here/study.cfg" -q -o "$1/map.sqlite"
thermix plot "$1/map.sqlite" --x r_convec --y slowdown_pct --by leakage_w -q -o "$1/figure.svg"
