#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The modal kernel and the leakage give the same bits on aarch64 (Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross
# and qemu-user) as here; skipped where these are not installed.    aarch64.sh CC ROOT
set -euo pipefail
cc=$1 root=$2
command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "no cross compiler or qemu"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
files=("$root"/tests/cross/kernel_bits.c "$root"/thermal/reduction/modal_kernel.c "$root"/power/leakage.c)
flags=(-DTMX_KERNEL=tmx_modal_kernel_any -O3 -std=c17 -ffp-contract=off -I"$root" -I"$root"/include)
"$cc" "${flags[@]}" "${files[@]}" -lm -o "$dir"/here
aarch64-linux-gnu-gcc "${flags[@]}" -static "${files[@]}" -lm -o "$dir"/there
aarch64-linux-gnu-gcc "${flags[@]}" -S -o - "${files[1]}" >"$dir"/kernel.s
grep -q fmla "$dir"/kernel.s || { echo "FAILED: no fused multiply-add of vectors in it"; exit 1; }
"$dir"/here >"$dir"/here.txt
qemu-aarch64 "$dir"/there >"$dir"/there.txt
cat "$dir"/here.txt
diff "$dir"/here.txt "$dir"/there.txt
