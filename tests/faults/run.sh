#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Can the tests of the policies fail? Puts each fault of faults.tsv alone into a copy of the source, builds, runs the tests
# of policies and loop, and names the test that caught it. About four seconds a fault.
# Usage: run.sh [WORD]: only faults whose file or rule has WORD in it. Exit code 1 when one goes unnoticed.
#        run.sh --rows: is what each row wants to change still there? Seeds nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = --rows ]; then
  cd "$root"
  perl -Mstrict -e '
    my ($stale, $line) = (0, 0);
    while (<>) {
      $line++;
      chomp;
      next if /^(#|$)/;
      my ($file, $rule, $old) = split /\t/;
      s/\\n/\n/g, s/\\t/\t/g, s/\\\\/\\/g for $old;
      my $text = "";
      if (open(my $source, "<", $file)) { local $/; $text = <$source>; }
      next if index($text, $old) >= 0;
      print "tests/faults/faults.tsv:$line: \"$rule\": what it changes is no longer in $file\n";
      $stale++;
    }
    exit($stale > 0)' "$here/faults.tsv"
  exit
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tests='unit[.](sched[.](rules|dtm|spread|place|place_rules|fan|tabs)|machine[.](machine|topology)|sim[.](tick|coupling|dispatch|swing)|run[.](cta|multi|presets|tables))|contract[.]loop'
solver='property[.](solver|channels)|contract[.]thermal' # of faults in thermal/
targets=(test_unit_sched test_unit_machine test_unit_sim test_unit_run test_contract test_property)

for part in "$root"/*; do
  case ${part##*/} in build | out | docs) ;; *) cp -r "$part" "$copy" ;; esac
done
sed -i 's/-Werror //' "$copy/CMakeLists.txt" # a fault may leave something unused
cd "$copy"
build() { cmake --build build --target "${targets[@]}" >build.log 2>&1; }
check() { # check REGEX
  ctest --test-dir build -R "^($1)\$" --timeout 60 -j "$(nproc)" >test.log 2>&1
}
cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release >/dev/null
build || { tail -20 build.log; exit 1; }
check "$tests|$solver" || { tail -20 test.log; echo "the tests fail without any fault"; exit 1; }

n=0 unnoticed=0
while IFS=$'\t' read -r file rule old new; do
  case $file in '' | '#'*) continue ;; esac
  case $file$rule in *"${1:-}"*) ;; *) continue ;; esac
  n=$((n + 1))
  case $file in thermal/*) of_file=$solver ;; *) of_file=$tests ;; esac
  cp "$file" keep.c
  OLD=$old NEW=$new perl -0777 -i -pe '
    BEGIN { for (@ENV{qw(OLD NEW)}) { s/\\n/\n/g; s/\\t/\t/g; s/\\\\/\\/g } }
    s/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" keep.c; then
    verdict="NOT FOUND in $file"
  elif ! build; then
    verdict="DOES NOT BUILD"
  elif check "$of_file"; then
    verdict="UNNOTICED"
  else
    verdict="caught by $(sed -n 's/^[[:space:]]*[0-9]* - \([^ ]*\) .*/\1/p' test.log | paste -sd' ')"
  fi
  case $verdict in caught*) ;; *) unnoticed=$((unnoticed + 1)) ;; esac
  echo "$rule: $verdict"
  cp keep.c "$file"
done <"$here/faults.tsv"
echo "$n faults, $unnoticed unnoticed"
[ "$unnoticed" = 0 ]
