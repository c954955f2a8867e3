#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Do two programs give the same bytes? Every suite at a coarse tick where it has one, two runs with all outputs, and the
# figures' data. For a change that must change no number: build the commit before elsewhere, and compare.
# Usage: same_bytes.sh THERMIX_A THERMIX_B [SUITE...]. Exit code 1 with the names of the files that differ, then how far their
# numbers are apart (same_numbers.py, TOLERANCE, 1e-6). SETS="base.key=value ...": further overrides; KEEP=DIR: what was compared.
set -uo pipefail
a=$1 b=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$root/workloads/suites/tabs.cfg" ] || { echo "same_bytes.sh: not inside the source tree"; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(tabs tabs-leaky tabs-layers tabs-multi gtx690 node-8gpu apsa tcs
  warped-gates consolidation consolidation_day)
table_sets=() run_sets=()
for s in ${SETS:-}; do
  table_sets+=(--set "${s#base.}")
  run_sets+=(--set "${s#base.}")
done
each() { # each PROGRAM FOLDER
  local s
  mkdir -p "$2"
  cd "$2" || exit 1
  for s in "${suites[@]}"; do # a suite without ticks refuses the key with exit code 2, at once
    nice timeout 600 "$1" table "$s" -q --set tick_s=0.01 "${table_sets[@]}" -o "$s" >"$s.txt" 2>"$s.err"
    local code=$?
    if [ $code = 2 ]; then
      rm -rf "$s"
      nice timeout 600 "$1" table "$s" -q -o "$s" >"$s.txt" 2>"$s.err"
      code=$?
    fi
    echo $code >"$s.exit"
    "$1" plot "$s" -o "$s/figures" >/dev/null 2>&1
    rm -rf "$s"/figures/*.svg "$s"/*.svg
  done
  for s in wl1 gtx280x2; do
    nice "$1" run "$root/workloads/runs/$s.cfg" "${run_sets[@]}" --set tick_s=0.01 --trace 0.5 -o "run-$s" >"run-$s.txt" 2>"run-$s.err"
    echo $? >"run-$s.exit"
  done
}
(each "$(realpath "$a")" "$out/a") &
(each "$(realpath "$b")" "$out/b")
wait
grep -Lx 0 "$out"/a/*.exit "$out"/b/*.exit | sed "s|$out/||; s|.exit\$| did not end with 0|"
echo "$(find "$out/a" -type f | wc -l) files"
[ -z "${KEEP:-}" ] || cp -r "$out" "$KEEP"
diff -rq "$out/a" "$out/b" | sed "s|$out/||g"
same=${PIPESTATUS[0]}
[ "$same" = 0 ] || "$root/tests/cli/same_numbers.py" "$out/a" "$out/b" "${TOLERANCE:-1e-6}"
exit "$same"
