#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# thermix installed into an empty folder that is moved afterwards: the program, both libraries by pkg-config
# alone, the CMake package, every header alone. Nothing may look into the source or build tree.
# Usage: install.sh CMAKE BUILD SOURCE CC "FLAGS"; FLAGS are those of the sanitizers, empty without.
set -euo pipefail
cmake=$1 build=$2 source=$3 cc=$4 flags=${5:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
say() { echo "FAILED: $*"; exit 1; }
cd "$dir"
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache} ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=1
unset THERMIX_DATA PKG_CONFIG_PATH LD_LIBRARY_PATH CPATH LIBRARY_PATH

# DESTDIR stands before the prefix, and nothing goes elsewhere.
DESTDIR=$dir/stage "$cmake" --install "$build" --prefix /opt/thermix --strip >log.txt || { cat log.txt; say install; }
[ "$(ls stage)" = opt ] || say "installed beside the prefix: $(ls stage)"
mv stage/opt/thermix moved && rm -r stage
pc=$(dirname "$(find "$dir/moved" -name thermix.pc)")
lib=$(dirname "$pc")
if [ -z "$flags" ]; then # sanitizers keep names of sources
  ! grep -rlF -e "$source" -e "$build" moved || say "these files name the source or build tree"
fi

# The program, from a folder that holds nothing.
mkdir empty && cd empty
"$dir/moved/bin/thermix" list chips >chips.txt # a file: a pipe that grep closes early ends the program
grep -q gtx280 chips.txt && rm chips.txt || say "the installed program does not find its chips"
"$dir/moved/bin/thermix" check floorplans/gtx280 >/dev/null || say "an example of check --help"
"$dir/moved/bin/thermix" power fit workloads/training/rodinia_c1060.csv >/dev/null || say "an example of power --help"
"$dir/moved/bin/thermix" help --man | sed -n 's/.*fBthermix.-\([a-z]*\).fR(1).*/\1/p' >pages.txt
[ "$(wc -l <pages.txt)" -gt 25 ] || say "thermix(1) names $(wc -l <pages.txt) pages"
while read -r page; do [ -s "$dir/moved/share/man/man1/thermix-$page.1" ] || say "no page thermix-$page(1)"; done <pages.txt && rm pages.txt
[ -s "$("$dir/moved/bin/thermix" --help | sed -n 's/^Documents (docs.quick-start.md first): //p')/docs/quick-start.md" ] ||
  say "thermix --help does not name the documents"
"$dir/moved/bin/thermix" run "$dir/moved/share/thermix/workloads/runs/wl1.cfg" --set tick_s=0.01 --set rows=8 \
  --set cols=8 -q -o out || say "the installed program does not run"
[ -s out/summary.csv ] || say "no summary"
for f in {A_gt200,B_hotblock,D_package,E_stack2,F_rectcell,G_board}/{case.config,power.ptrace,out.ttrace,out.steady}; do
  [ -s "$dir/moved/share/thermix/tests/golden/$f" ] || say "thermix validate would not find HotSpot's $f"
done
cd ..

# The shared library, then the archive where there is no other.
export PKG_CONFIG_PATH=$pc
strict="-std=c17 -Wall -Wextra -Wpedantic -Werror -O1 $flags"
for example in "$source"/examples/*.c; do
  name=$(basename "$example" .c)
  [ "$name" != my_policy ] || continue # a module, below
  # shellcheck disable=SC2046,SC2086 # no .pc file of another library is needed: their -dev packages may be absent
  $cc $strict "$example" $(PKG_CONFIG_LIBDIR=$pc pkg-config --cflags --libs thermix) -Wl,-rpath,"$lib" -o "$name"
  (cd empty && "../$name") >"$name.txt" || say "$name with the shared library"
  [ -s "$name.txt" ] || say "$name says nothing"
  readelf -d "$name" | grep -q 'libthermix\.so\.[0-9]*\]' || say "$name is not linked by the library's ABI number"
done
# shellcheck disable=SC2046,SC2086
$cc -std=c17 -Wall -Wextra -Werror -O1 $flags "$source/tests/api/host.c" \
  $(pkg-config --cflags --libs thermix gsl) -pthread -Wl,-rpath,"$lib" -o host
mkdir locale # a comma in numbers; the rest of the language takes seconds to compile
for part in CTYPE COLLATE MONETARY TIME MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT IDENTIFICATION; do printf 'LC_%s\ncopy "POSIX"\nEND LC_%s\n' $part $part; done >comma
printf 'LC_NUMERIC\ncopy "de_DE"\nEND LC_NUMERIC\n' >>comma
localedef -c -i ./comma -f UTF-8 locale/de_DE.UTF-8 2>/dev/null || [ -s locale/de_DE.UTF-8/LC_NUMERIC ] || say "no localedef (Debian: locales)"
LOCPATH=$dir/locale ./host de_DE.UTF-8 || say "what a host has set is not what it finds"

mkdir static && mv "$lib"/libthermix.so* static/
for example in "$source"/examples/*.c; do
  name=$(basename "$example" .c)
  [ "$name" != my_policy ] || continue # a module, below
  # shellcheck disable=SC2046,SC2086
  $cc $strict "$example" $(pkg-config --cflags --libs --static thermix) -o moved/bin/"$name"
  (cd empty && "../moved/bin/$name") | cmp - "$name.txt" || say "$name with the archive says something else"
done
mv static/* "$lib"/

# A module of one's own, with the installed headers alone, in the installed program.
# shellcheck disable=SC2046,SC2086
$cc $strict -shared -fPIC "$source/examples/my_policy.c" $(pkg-config --cflags thermix) -o my_policy.so
(umask 022 && chmod o-w my_policy.so)
moved/bin/thermix run gtx280x2 --module ./my_policy.so --set place.policy=patient --set place.patience=2 \
  --set tick_s=0.01 --set rows=8 --set cols=8 -q -o module || say "examples/my_policy.c as a module"
grep -q patience module/resolved.cfg || say "the module's policy is not in resolved.cfg"

# find_package, shared and static.
mkdir project && cat >project/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(thermix 1.0 REQUIRED)
foreach(library thermix thermix-static)
  add_executable(by-${library} user.c)
  target_link_libraries(by-${library} PRIVATE thermix::${library})
endforeach()
C
cp "$source/examples/thermal_alone.c" project/user.c
# shellcheck disable=SC2086
{ "$cmake" -S project -B made -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" -DCMAKE_PREFIX_PATH="$dir/moved" &&
  "$cmake" --build made; } >log.txt 2>&1 || { cat log.txt; say "find_package"; }
for library in thermix thermix-static; do
  THERMIX_DATA=$dir/moved/share/thermix made/by-$library | cmp - thermal_alone.txt || say "find_package, $library"
done

# Every header alone, in C17 and C++17.
for header in moved/include/thermix/*.h; do
  name=thermix/$(basename "$header")
  printf '#include <%s>\n#include <%s>\n' "$name" "$name" | tee alone.c >alone.cc
  # shellcheck disable=SC2046
  $cc -std=c17 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags thermix) -fsyntax-only alone.c || say "$name in C17"
  # shellcheck disable=SC2046
  c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags thermix) -fsyntax-only alone.cc || say "$name in C++17"
done
