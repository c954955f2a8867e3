#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A policy of one's own. Usage: run.sh OUT (a folder; figure.svg is the result)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
root=$(cd "$here/../../.." && pwd)
cc -shared -fPIC -std=c17 -I"$root/include" "$root/examples/my_policy.c" -o "$1/my_policy.so"
thermix run gtx280x2 --module "$1/my_policy.so" --set place.policy=patient --set place.patience=2 --hotspot 5 -q -o "$1/run"
thermix plot "$1/run" --figure heatmap -q -o "$1/figure.svg"
