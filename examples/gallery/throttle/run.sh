#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What throttling costs. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix explain wl1 --set policy=BL --no-steps -o "$1/figure.svg"
