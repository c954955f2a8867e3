#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input to a study: a clear message, the right exit code, nothing damaged.
# Usage: sweep_errors.sh SWEEP_PROGRAM SQLITE_DUMP LOCK_HOLDER
set -uo pipefail
sweep=$1 dump=$2 hold=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
echo 'y = 1;' >base.cfg
study() { printf 'name = "t"; base = "base.cfg";\naxes = ( %s );\n' "$1" >"$2"; }

# fails CODE "words of the message" ARGUMENT...
fails() {
  local code=$1 words=$2 got
  shift 2
  "$sweep" "$@" >out.txt 2>err.txt
  got=$?
  if [ $got -ne "$code" ] || ! grep -qF -- "$words" err.txt; then
    echo "FAILED: sweep $*: exit $got, expected $code and \"$words\"; it said:"
    cat err.txt
    exit 1
  fi
}

study '{ key = "xx"; values = [1]; }' unknown.cfg
fails 2 'unknown key "xx"' ./unknown.cfg -o none.sqlite
[ ! -e none.sqlite ] || { echo "FAILED: an unknown key made a database"; exit 1; }
study '{ key = "x"; values = []; }' empty.cfg
fails 2 'empty.cfg:2: axis x has no values' ./empty.cfg -o none.sqlite
study '{ key = "x"; values = [1]; }, { key = "x"; values = [2]; }' twice.cfg
fails 2 'key x is on two axes' ./twice.cfg -o none.sqlite
fails 2 'no such suite' ./missing.cfg
fails 2 'expected I/N' ./twice.cfg --shard 3/2
study '{ key = "x"; values = [1, 2, -3, 4000]; }' good.cfg
"$sweep" ./good.cfg -o good.sqlite -q >out.txt 2>err.txt
[ $? = 1 ] && grep -q '2 done now, 2 failed' out.txt && grep -q '2 of 4 runs failed' err.txt || { echo FAILED: good; exit 1; }
"$sweep" ./good.cfg -o good.sqlite -q > out.txt 2> err.txt
[ $? = 1 ] && grep -q '4 there before, 0 done now, 2 failed' out.txt && grep -q '2 of 4 runs failed' err.txt || { echo FAILED: failed before; exit 1; }
"$dump" good.sqlite | grep -q 'failed .*x = -3 never ends' || { echo FAILED: error row; exit 1; }
"$dump" good.sqlite | grep -q 'failed .*is outside' || { echo FAILED: range row; exit 1; }
"$dump" good.sqlite >good.txt

{ "$sweep" ./good.cfg -o new/folder/good.sqlite -q 2>err.txt || [ $? = 1 ]; } | grep -q '2 done now' || { echo FAILED: no folder made; exit 1; }

cp good.sqlite other.sqlite
printf '\x00\x00\x00\x09' | dd of=other.sqlite bs=1 seek=60 conv=notrunc status=none
fails 2 'version 9; this program reads version 2' ./good.cfg -o other.sqlite
echo "this is text" >text.sqlite
fails 2 'not a results database' ./good.cfg -o text.sqlite
[ "$(cat text.sqlite)" = "this is text" ] || { echo FAILED: overwrote a text file; exit 1; }
study '{ key = "y"; values = [1]; }' study2.cfg
fails 2 'holds another study' ./study2.cfg -o good.sqlite
cp good.sqlite ro.sqlite
chmod 444 ro.sqlite
fails 2 'read-only' ./good.cfg -o ro.sqlite
mkfifo until
"$hold" good.sqlite <until >held.txt &
exec 9>until
until grep -q held held.txt; do sleep 0.05; done
fails 2 'locked by another program' ./good.cfg -o good.sqlite
exec 9>&-
wait
study '{ key = "x"; range = { from = 1; to = 200; steps = 200; }; }' large.cfg
(ulimit -f 64; trap '' XFSZ; fails 1 'disk full?' ./large.cfg -o full.sqlite -q) || exit 1
"$sweep" ./large.cfg -o full.sqlite -q | grep -q '0 failed' || { echo FAILED: not resumed after a full disk; exit 1; }
[ "$("$dump" full.sqlite | grep -c '^run.*done')" = 200 ] || { echo FAILED: rows after a full disk; exit 1; }
# Many points are looked at in several processes: the ids of few, which are not; and all are bad as one is.
ids() { "$dump" "$1" | grep '^run' | sort; } # with what was run under each
"$sweep" ./large.cfg -o one.sqlite -q -j 1 >/dev/null && "$sweep" ./large.cfg -o three.sqlite -q -j 3 >/dev/null
study '{ key = "x"; range = { from = 1; to = 3; steps = 3; }; }' few.cfg
"$sweep" ./few.cfg -o few.sqlite -q >/dev/null
ids one.sqlite >one.txt
ids three.sqlite | cmp - one.txt || { echo "FAILED: ids depend on -j"; exit 1; }
[ "$(wc -l <one.txt)" = 200 ] && [ "$(ids few.sqlite | wc -l)" = 3 ] &&
  [ "$(ids few.sqlite | sort - one.txt | uniq -d | wc -l)" = 3 ] || { echo "FAILED: ids of few points"; exit 1; }
study '{ key = "xx"; range = { from = 1; to = 200; steps = 200; }; }' unknown.cfg
fails 2 'unknown key "xx"' ./unknown.cfg -o none.sqlite
[ ! -e none.sqlite ] || { echo "FAILED: 200 unknown keys made a database"; exit 1; }
"$dump" good.sqlite | cmp - good.txt || { echo FAILED: good.sqlite changed; exit 1; }
echo "all refused, nothing damaged"
