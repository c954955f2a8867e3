#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A fan sweep. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix sweep "$here/study.cfg" -q -o "$1/fan.sqlite"
thermix plot "$1/fan.sqlite" --x speed --y slowdown_pct --by policy -q -o "$1/figure.svg"
