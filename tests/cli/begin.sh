# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests here: the program they were given, a folder of their own to work in, the data of this tree.
set -eu
thermix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export THERMIX_DATA="$root"
fail() { echo "FAILED: $*"; exit 1; }
