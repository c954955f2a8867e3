#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# headers.sh CC CXX ROOT: all headers of the tree in one C17 file and in one C++17 file: no tag, name or macro means two things.
set -eu
cc=$1 cxx=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
find base bench cli core hotspot include kernels limits measure papers plots power run sched study thermal -name '*.h' | sort |
  sed 's|^include/\(thermix/.*\)|#include <\1>|; t; s|.*|#include "&"|' >"$work/all.c"
[ "$(wc -l <"$work/all.c")" -gt 100 ] || { echo "only $(wc -l <"$work/all.c") headers found"; exit 1; }
{ echo '#define restrict __restrict'; cat "$work/all.c"; } >"$work/all.cc"
flags="-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unused-function -fsyntax-only -I. -Iinclude -isystem /usr/include/suitesparse"
# shellcheck disable=SC2086
$cc -std=c17 -D_DEFAULT_SOURCE $flags "$work/all.c"
# shellcheck disable=SC2086
$cxx -std=c++17 $flags "$work/all.cc"
