#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fewer cores for a memory-bound kernel. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix explain study --set mix=WL5 --set policy=BL --set cta.policy=tcs --no-steps -o "$1/figure.svg"
