#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Does what ./dev release made work where thermix never was? Usage: release.sh FOLDER VERSION PACKAGE...
# PACKAGE: what a build of the source takes.
#
# As root, with debootstrap and a mirror of Debian within reach, each is tried in an empty Debian 12 of its own:
#   wheel    Python, its venv and numpy are added; `pip install --no-index --no-deps` in a fresh venv. No library of thermix's is there:
#            the program runs a mix, the module steps the same run, both say VERSION.
#   package  `apt install ./thermix_*.deb` brings what it needs. Program, module and man page; a C program by pkg-config; it is removed.
#   source   what ./dev installs for a build is added; configure, build, unit tests and `stable`; the generated pages are there.
# Otherwise, in a bare folder with an empty environment: the wheel in a fresh venv, the package unpacked, the source configured and built.
# DEBIAN_BASE=FOLDER: an empty Debian 12 that debootstrap made before. The first line of the output says which of the two it was.
set -euo pipefail
folder=$(realpath "$1") version=$2
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
one=("$folder"/thermix-"$version".tar.gz "$folder"/thermix_"$version"_*.deb "$folder"/thermix-"$version"-*.whl)
for f in "${one[@]}"; do [ -s "$f" ] || fail "no $f"; done

# What is done in each place; $1 is VERSION, the current folder holds the file.
cat >"$dir/common.sh" <<'C'
set -Eeuo pipefail
trap 'echo "failed: $BASH_COMMAND"' ERR
version=$1
coarse="--set tick_s=0.01 --set rows=8 --set cols=8 --set sensor.period_s=0.01"
tried() { # tried THERMIX PYTHON
  [ "$($1 --version)" = "thermix $version" ] || { echo "$1 --version: $($1 --version)"; exit 1; }
  $1 run study $coarse -q -o run-out
  [ -s run-out/summary.csv ]
  $2 - "$version" <<'P'
import csv, sys, thermix
assert thermix.version() == sys.argv[1], thermix.version()
run = thermix.Run({"chip": "gtx280", "mix": "hot_cold", "policy": "BL", "seed": 1, "tick_s": 0.01, "rows": 8, "cols": 8})
while not run.step(1000):
    pass
assert run.time_s > 1, run.time_s
P
}
C
cat >"$dir/wheel.sh" <<'C'
python3 -m venv --system-site-packages venv # numpy is the system's
venv/bin/pip install --quiet --no-index --no-deps ./thermix-"$version"-*.whl
venv/bin/thermix --help | grep -q "^Documents .*: $PWD/venv/.*/share/doc/thermix$"
tried venv/bin/thermix venv/bin/python
venv/bin/python -m thermix list chips >chips.txt
venv/bin/pip uninstall --quiet --yes thermix
[ -z "$(find venv -path '*thermix*')" ] || { echo "uninstalled, and left: $(find venv -path '*thermix*')"; exit 1; }
C
cat >"$dir/package.sh" <<'C'
apt-get install -y -qq --no-install-recommends ./thermix_"$version"_*.deb python3-numpy gcc libc6-dev pkg-config >apt.txt 2>&1 || { tail -20 apt.txt; exit 1; }
tried thermix python3
[ -s /usr/share/man/man1/thermix-run.1 ] || [ -s /usr/share/man/man1/thermix-run.1.gz ]
gcc -std=c17 /usr/share/doc/thermix/examples/step.c $(pkg-config --cflags --libs thermix) -o step
./step >step.txt && [ -s step.txt ]
apt-get remove -y -qq thermix >apt.txt 2>&1 || { tail -20 apt.txt; exit 1; }
[ ! -e /usr/bin/thermix ]
C
cat >"$dir/source.sh" <<'C'
tar -xf thermix-"$version".tar.gz
cd thermix-"$version"
[ -s site/index.html ] && [ -s site/notes/report.html ]
cmake --preset release >../cmake.txt 2>&1 || { tail -20 ../cmake.txt; exit 1; }
cmake --build --preset release >../build.txt 2>&1 || { tail -20 ../build.txt; exit 1; }
ctest --preset release -j "$(nproc)" -R '^(unit[.].*|stable)$' >../ctest.txt 2>&1 || { tail -40 ../ctest.txt; exit 1; }
tried build/release/cli/thermix "env THERMIX_LIBRARY=build/release/lib/libthermix.so PYTHONPATH=python python3"
C

empty() { # an empty Debian 12 in $dir/base
  [ "$(id -u)" = 0 ] || return 1
  if [ -d "${DEBIAN_BASE:-}" ]; then cp -a "$DEBIAN_BASE" "$dir/base" && return; fi
  command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null 2>&1 || return 1
  debootstrap --variant=minbase bookworm "$dir/base" "$mirror" >"$dir/debootstrap.txt" 2>&1
}
if empty; then
  echo "in an empty Debian 12"
  chroot "$dir/base" apt-get update -qq
  inside() { # inside NAME FILE [PACKAGE...]: NAME.sh beside FILE, in a Debian 12 of its own
    local root=$dir/$1
    cp -a "$dir/base" "$root"
    mkdir "$root/try"
    cp "$2" "$root/try/"
    cat "$dir/common.sh" "$dir/$1.sh" >"$root/try/try.sh"
    [ $# = 2 ] || DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends "${@:3}" >"$dir/apt.txt" 2>&1 ||
      { tail -20 "$dir/apt.txt"; fail "$1: apt-get"; }
    # a view of the processes of its own, which ends with it
    unshare --mount --pid --fork --mount-proc="$root/proc" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -c "cd /try && bash try.sh '$version'" || fail "$1"
    rm -rf "$root"
    echo "$1: works"
  }
  inside wheel "${one[2]}" python3-venv python3-numpy
  inside package "${one[1]}"
  inside source "${one[0]}" "${@:3}"
else
  echo "in a bare folder: no root, no debootstrap, or no mirror of Debian"
  tail -2 "$dir/debootstrap.txt" 2>/dev/null || true
  inside() {
    mkdir "$dir/$1"
    cp "$2" "$dir/$1/"
    cat "$dir/common.sh" "$dir/$1.sh" >"$dir/$1/try.sh"
    (cd "$dir/$1" && env -i HOME="$dir/$1" LC_ALL=C.UTF-8 PATH=/usr/bin:/bin bash try.sh "$version") || fail "$1"
    echo "$1: works"
  }
  cat >"$dir/package.sh" <<'C'
dpkg-deb -x thermix_"$version"_*.deb root
tried root/usr/bin/thermix "env PYTHONPATH=root/usr/lib/python3/dist-packages python3"
C
  inside wheel "${one[2]}"
  inside package "${one[1]}"
  inside source "${one[0]}"
fi
