#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 388 measured chips. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
mkdir -p "$1"
thermix validate longhorn --figures "$1/figures"
cp "$1/figures/v100_clock.svg" "$1/figure.svg"
