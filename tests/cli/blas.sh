#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# BLAS works with one kind of kernels on every processor with AVX2, or with those that the user names, and resolved.cfg says
# that they round differently; the numbers are the same to nine digits.    blas.sh THERMIX ROOT
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
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
  case $(kernels own) in Haswell | Zen) ;; *) fail "a processor with AVX2 takes $(kernels own)" ;; esac
fi
[ "$(uname -m)" = x86_64 ] || exit 0
OPENBLAS_CORETYPE=Prescott run named
case $(kernels named) in "Prescott, which round differently"*) ;; *) false ;; esac || fail "OPENBLAS_CORETYPE is not heard: $(kernels named)"
paste -d, own/gpus.csv named/gpus.csv | awk -F, 'NR > 1 { for (i = 1; i <= NF / 2; i++) { a = $i; b = $(i + NF / 2); d = a - b; s = a < 0 ? -a : a
    if (a + 0 == a ? d > 1e-9 * s || -d > 1e-9 * s : a != b) { print i, a, b; bad = 1 } } } END { exit bad || NR < 2 }' || fail "other numbers"
