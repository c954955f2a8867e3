#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The modal kernels and the leakage give the same bits on aarch64 (Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross
# and qemu-user) as here; skipped where these are not installed.    aarch64.sh CC ROOT
set -euo pipefail
cc=$1 root=$2
command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "no cross compiler or qemu"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for kernel in modal_kernel modal_mixed_kernel; do
  printf '#define TMX_KERNEL tmx_%s_any\n#include "thermal/reduction/%s.c"\n' $kernel $kernel >"$dir"/$kernel.c
done
files=("$root"/tests/cross/kernel_bits.c "$dir"/modal_kernel.c "$dir"/modal_mixed_kernel.c "$root"/power/leakage.c)
flags=(-O3 -std=c17 -ffp-contract=off -I"$root" -I"$root"/include)
"$cc" "${flags[@]}" "${files[@]}" -lm -o "$dir"/here
aarch64-linux-gnu-gcc "${flags[@]}" -static "${files[@]}" -lm -o "$dir"/there
for kernel in modal_kernel modal_mixed_kernel; do
  aarch64-linux-gnu-gcc "${flags[@]}" -S -o - "$dir"/$kernel.c >"$dir"/kernel.s
  grep -q fmla "$dir"/kernel.s || { echo "FAILED: no fused multiply-add of vectors in $kernel"; exit 1; }
done
"$dir"/here >"$dir"/here.txt
qemu-aarch64 "$dir"/there >"$dir"/there.txt
cat "$dir"/here.txt
diff "$dir"/here.txt "$dir"/there.txt
