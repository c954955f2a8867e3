#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A chip at its hottest moment. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix run wl1 --set policy=MNU --hotspot 5 -q -o "$1/run"
thermix plot "$1/run" --figure heatmap -q -o "$1/figure.svg"
