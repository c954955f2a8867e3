#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs merged on one GPU. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix table consolidation -q -o "$1/table"
thermix plot "$1/table" --figure tables -q -o "$1/figure.svg"
