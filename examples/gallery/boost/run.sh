#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A governor at its target. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix run gtx770-boost --trace 1 -q -o "$1/run"
thermix plot "$1/run" --figure temperature -q -o "$1/figure.svg"
