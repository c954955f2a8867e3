#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# BLAS works with the kernels of this processor, also where OpenBLAS is too old to know it, or with those that the user
# names; the numbers are the same to nine digits.    blas.sh THERMIX ROOT
set -eu
thermix=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export THERMIX_DATA="$2"
fail() { echo "FAILED: $*"; exit 1; }
run() { "$thermix" run wl1 -q --set warmup_s=0.5 --set rows=16 --set cols=16 -o "$@"; }
kernels() { sed -n '1s/.*BLAS kernels for //p' "$1/resolved.cfg"; }
unset OPENBLAS_CORETYPE
run own
[ "$(kernels own)" ] || fail "resolved.cfg does not say which kernels"
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo && [ "$(kernels own)" = Prescott ]; then
  fail "SSE3 on a processor with AVX2"
fi
[ "$(uname -m)" = x86_64 ] || exit 0
OPENBLAS_CORETYPE=Prescott run named
[ "$(kernels named)" = Prescott ] || fail "OPENBLAS_CORETYPE is not heard: $(kernels named)"
paste -d, own/gpus.csv named/gpus.csv | awk -F, 'NR > 1 { for (i = 1; i <= NF / 2; i++) { a = $i; b = $(i + NF / 2); d = a - b; s = a < 0 ? -a : a
    if (a + 0 == a ? d > 1e-9 * s || -d > 1e-9 * s : a != b) { print i, a, b; bad = 1 } } } END { exit bad || NR < 2 }' || fail "other numbers"
