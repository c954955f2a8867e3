#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A database of runs that is not as it was written never gives other numbers: what is damaged is refused or computed again,
# with a word on standard error. Bits, bytes, digits and exchanged rows, of a study and of a suite; links; a refused study.
# Usage: damaged_store.sh SWEEP_PROGRAM SQLITE_DUMP THERMIX LOCK_HOLDER [DAMAGES]
set -euo pipefail
sweep=$1 dump=$2 thermix=$3 hold=$4 n=${5:-30}
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export THERMIX_DATA="$root" XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
fail() { echo "FAILED: $*"; exit 1; }
seed=${TMX_TEST_SEED:-$$}
echo "random seed $seed"

# harm FILE SEED KIND: bit, bytes, tail
cat >harm.py <<'P'
import random, sys
path, seed, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
r = random.Random(seed)
data = bytearray(open(path, "rb").read())
at = r.randrange(len(data))
if kind == "bit":
    used = [i for i, b in enumerate(data) if b]  # most of a small database is empty
    at = r.choice(used)
    data[at] ^= 1 << r.randrange(8)
elif kind == "bytes":
    data[at:at + 64] = r.randbytes(64)
else:
    data += bytes(4096)
open(path, "wb").write(data)
P
sql() { python3 - "$@" <<'P'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.executescript(sys.argv[2])
c.commit()
P
}

# 1. a study; x = -1 fails, and a study with runs that failed ends with 1
sweeps() { # sweeps FILE: as it ends, but 1 for runs that failed is well, too
  "$sweep" ./study.cfg -o "$1" -q >out.txt 2>err.txt || grep -q 'runs failed' err.txt
}
echo 'y = 1;' >base.cfg
cat >study.cfg <<'S'
name = "d"; base = "base.cfg";
axes = ( { key = "x"; values = [-1, 2, 3, 4, 5, 6, 7]; }, { key = "y"; values = [1, 2, 3]; } );
S
sweeps whole.sqlite || fail "the study: $(cat err.txt)"
"$dump" whole.sqlite >whole.txt
"$thermix" query whole.sqlite --rows x --pivot y --value sum --format csv >query.csv
"$thermix" query whole.sqlite --where 'sum>0' --where 'sum<0' >out.txt 2>err.txt && fail "an empty table: $(cat out.txt)"
grep -q 'no finished run fits' err.txt || fail "$(cat err.txt)"
same() { # same WHAT: of one.sqlite the same numbers or a refusal, read and resumed
  if "$thermix" query one.sqlite --rows x --pivot y --value sum --format csv >got.csv 2>err.txt; then
    cmp query.csv got.csv || fail "$1: query gives other numbers"
  else
    [ -s err.txt ] || fail "$1: query fails without a word"
  fi
  if sweeps one.sqlite; then
    "$dump" one.sqlite >got.txt || fail "$1: resumed, but not whole"
    cmp whole.txt got.txt || fail "$1: the resumed study has other numbers"
    grep -q ' 0 done now' out.txt || grep -q 'computed again' err.txt || fail "$1: computed again without a word: $(cat out.txt)"
  else
    [ -s err.txt ] || fail "$1: sweep fails without a word"
  fi
}
for ((i = 0; i < n; i++)); do
  kind=bit
  [ $((i % 3)) != 2 ] || kind=bytes
  [ "$i" != 0 ] || kind=tail
  cp whole.sqlite one.sqlite
  python3 harm.py one.sqlite $((seed + i)) $kind
  same "damage $kind $((seed + i))"
  rm -f one.sqlite*
done
again() { # again SQL N: N runs are computed again, and that is said
  cp whole.sqlite one.sqlite
  sql one.sqlite "$1"
  "$thermix" query one.sqlite --value sum >out.txt 2>err.txt && fail "query reads after: $1"
  grep -q 'the database is damaged' err.txt || fail "query says $(cat err.txt)"
  sweeps one.sqlite || fail "$1: $(cat err.txt)"
  grep -q "note: one.sqlite: runs that are not as they were written, computed again: $2\$" err.txt || fail "$1: said $(cat err.txt)"
  same "$1"
  rm -f one.sqlite*
}
again "UPDATE metric SET value = value + 1e-9 WHERE name = 'sum' AND value = 3" 1
again "CREATE TEMP TABLE t AS SELECT run, value FROM metric WHERE name = 'sum';
  UPDATE metric SET value = (SELECT value FROM t WHERE t.run <> metric.run LIMIT 1) WHERE run = (SELECT run FROM t LIMIT 1)" 1
again "UPDATE parameter SET value = 9 WHERE key = 'x' AND value = 7" 3
again "UPDATE run SET status = 'done', error = '' WHERE status = 'failed'" 3
again "DELETE FROM metric WHERE name = 'product' AND value = 4" 2
cp whole.sqlite one.sqlite
head -c 5000 /dev/zero >>one.sqlite
"$thermix" query one.sqlite --value sum >out.txt 2>err.txt || fail "query of a database with a tail: $(cat err.txt)"
grep -q 'one.sqlite: 5000 bytes behind its last page' err.txt || fail "a tail of NULs is read over in silence: $(cat err.txt)"
same "a tail of NULs"
cp whole.sqlite one.sqlite
sql one.sqlite "UPDATE point SET run = (SELECT run FROM point WHERE n = 4) WHERE n = 5"
"$thermix" query one.sqlite --value sum >out.txt 2>err.txt && fail "query reads exchanged points"
same "points exchanged"
# killed within the last commit: the journal beside the file is rolled back by whoever reads next
python3 - whole.sqlite one.sqlite <<'P'
import shutil, sqlite3, sys
shutil.copy(sys.argv[1], "writer")
c = sqlite3.connect("writer", isolation_level=None)
c.executescript("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE half (x)")
c.executemany("INSERT INTO half VALUES (?)", [(bytes(3000),)] * 99)
for end in "", "-journal":
    shutil.copy("writer" + end, sys.argv[2] + end)
P
[ -s one.sqlite-journal ] || fail "no journal"
same "a writer that was killed within a commit"
cmp query.csv got.csv && [ ! -e one.sqlite-journal ] || fail "a journal is not rolled back: $(cat err.txt)"

# 2. a study that is refused leaves the file as it was; no link is followed; a lock is one wait
sed 's/"x"/"z"/' study.cfg >other.cfg
sed 's/"d"/"e"/' study.cfg >named.cfg
cp whole.sqlite one.sqlite
"$sweep" ./named.cfg -o one.sqlite -q 2>err.txt && fail "another study is taken"
"$sweep" ./other.cfg -o one.sqlite -q 2>err.txt && fail "a study without a valid point is taken"
cmp one.sqlite whole.sqlite || fail "a refused study writes into the database"
ln -s whole.sqlite link.sqlite
sweeps link.sqlite && fail "a link is followed"
grep -q 'symbolic link' err.txt || fail "a link: $(cat err.txt)"
mkdir real && ln -s real linked && sweeps linked/x.sqlite || fail "a folder through a link"
echo victim >victim && ln -s "$dir/victim" one.sqlite.log.x && rm -f one.sqlite.log && mv one.sqlite.log.x one.sqlite.log
sweeps one.sqlite && fail "the log goes through a link"
[ "$(cat victim)" = victim ] || fail "the log is written through a link"
rm -f one.sqlite*
cp whole.sqlite one.sqlite
mkfifo until
"$hold" one.sqlite <until >held.txt &
exec 9>until
until grep -q held held.txt; do sleep 0.05; done
begin=$(date +%s)
sweeps one.sqlite && fail "a locked database is written"
[ $(($(date +%s) - begin)) -le 7 ] || fail "more than one wait for a lock"
exec 9>&-
wait

# 3. a suite: its database is made again
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" >suite.cfg
"$thermix" table ./suite.cfg -o whole -q >/dev/null
resume() { # resume WHAT: the same bytes; computed again only with a word
  "$thermix" table ./suite.cfg -o one >/dev/null 2>err.txt || fail "$1: $(cat err.txt)"
  for f in table paper ledger; do cmp whole/$f.csv one/$f.csv || fail "$1: another $f.csv"; done
  "$thermix" query one --format csv >got.csv 2>err2.txt || fail "$1: not whole afterwards: $(cat err2.txt)"
  cmp suite.csv got.csv || fail "$1: query gives other numbers"
  grep -q ', 0 to do' err.txt || grep -q 'computed again' err.txt || fail "$1: computed again without a word: $(cat err.txt)"
}
"$thermix" query whole --format csv >suite.csv
[ "$(wc -l <suite.csv)" -gt 4 ] || fail "query of a suite"
for ((i = 0; i < n / 6; i++)); do
  rm -rf one
  cp -r whole one
  python3 harm.py one/runs.sqlite $((seed + i)) "$([ $((i % 2)) = 0 ] && echo bit || echo bytes)"
  resume "suite, $((seed + i))"
done
rm -rf one && cp -r whole one && echo "no database" >one/runs.sqlite
resume "a text in place of the database"
[ "$(cat one/runs.sqlite.damaged)" = "no database" ] || fail "what is no database is gone"
rm -rf one && cp -r whole one && rm one/runs.sqlite && echo victim >victim && ln -s ../victim one/runs.sqlite
"$thermix" table ./suite.cfg -o one -q >out.txt 2>err.txt && fail "a suite follows a link"
[ "$(cat victim)" = victim ] || fail "a suite writes through a link"
# what a suite measures is part of its runs: another length of the day is computed again, and the seeds are parameters
sed "s/day_s *= *[0-9.]*/day_s = 60.0/; s/^seeds *= *[0-9]*/seeds = 2/; s/gpus = \[1, 4\]/gpus = [1]/" "$root/workloads/suites/consolidation_day.cfg" >day.cfg
"$thermix" table ./day.cfg -o day -q >/dev/null
sed -i 's/day_s = 60.0/day_s = 30.0/' day.cfg
"$thermix" table ./day.cfg -o day >/dev/null 2>err.txt
"$thermix" table ./day.cfg -o fresh -q >/dev/null
cmp day/table.csv fresh/table.csv || fail "a day of another length takes the old runs"
[ "$("$thermix" query day --value arrived --where seed=2 --format csv 2>/dev/null | wc -l)" = 6 ] || fail "query of a day"
# arrivals that end before the day does: per hour and per instance until then
sed 's/count = [0-9]*/count = 1/' "$root/workloads/mixes/day_users.cfg" >one.cfg
sed 's/day_s = 30.0/day_s = 3600.0/; s/seeds = 2/seeds = 1/; s|mix = "day_users"|mix = "./one.cfg"|' day.cfg >early.cfg
"$thermix" table ./early.cfg -o early -q --columns throughput_per_hour --format csv | awk 'NR > 1 && $1 < 10 { exit 1 }' || fail "an instance in a minute is not one an hour"
echo "damage is refused or computed again, and said"
