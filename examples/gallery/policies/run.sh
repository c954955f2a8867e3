#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Six policies on two mixes. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix table short -q -o "$1/table"
thermix plot "$1/table" --figure slowdown -q -o "$1/figure.svg"
