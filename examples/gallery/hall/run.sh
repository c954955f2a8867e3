#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A hall of 256 GPUs. Usage: run.sh OUT (a folder; figure.png is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
thermix run hall --trace 10 -q -o "$1/run"
thermix plot "$1/run" --figure hall -q -o "$1/figure.png"
