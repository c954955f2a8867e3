#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The twin of a measured card. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix calibrate "${THERMIX_DATA:-.}/docs/examples/measured/card.csv" -q -o "$1/mine"
thermix replay "$1/mine" "${THERMIX_DATA:-.}/docs/examples/measured/card.csv" -q --figures "$1/figures"
cp "$1"/figures/card.svg "$1/figure.svg"
