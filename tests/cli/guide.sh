#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command of the quick start and of the guide works, and leaves what the pages say. Usage: guide.sh THERMIX PROJECT
set -euo pipefail
thermix=$1 project=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=$dir/cache
mkdir bin
ln -s "$thermix" bin/thermix
PATH=$dir/bin:$PATH
for folder in floorplans workloads plots systems docs; do ln -s "$project/$folder" .; done
mkdir out
"$project/tests/cli/twice.py" --list "$thermix" "$project" docs/quick-start.md >page.sh
grep -q '^thermix' page.sh || { echo "FAILED: no commands in quick-start.md"; exit 1; }
bash -euo pipefail -x page.sh >page.txt 2>&1 || { tail -20 page.txt; echo "FAILED: quick-start.md"; exit 1; }
column() { awk -F, -v c="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%.1f\n", $at[c] }' "out/$1/summary.csv"; }
while read -r run name value words; do # the lesson's answers
  [ "$(column "$run" "$name")" = "$value" ] || { echo "FAILED: lesson, $run: $name is $(column "$run" "$name"), not $value"; exit 1; }
  grep -qF -- "$words" "$project/docs/quick-start.md" || { echo "FAILED: the lesson does not say \"$words\""; exit 1; }
done <<'ANSWERS'
free peak_temp_c 95.3 95.3 degC
sink-24 slowdown_pct 5.2 5.2 %
sink-22 slowdown_pct 0.0 at 0.22 K/W nothing
mnu makespan_s 120.0 after 120.0 s
dvfs makespan_s 129.6 against 129.6 s
air-42 slowdown_pct 5.9 5.9 % lost
air-34 peak_temp_c 83.2 83.2 degC
ANSWERS
for example in "$project"/examples/gallery/*/; do # each a folder, a command, a paragraph, a figure
  name=$(basename "$example")
  [ -x "$example/run.sh" ] && grep -q "^!\[" "$example/README.md" && ls "$example"/figure.* >/dev/null || { echo "FAILED: gallery $name"; exit 1; }
  grep -q "($name/figure" "$project/examples/gallery/README.md" || { echo "FAILED: the gallery's page lacks $name"; exit 1; }
done
OUT=$dir/sheet "$project/examples/gallery/sheet.sh" consolidation 2>sheet.txt || { tail sheet.txt; echo "FAILED: sheet.sh"; exit 1; }
[ "$(grep -c '^!' sheet/gallery/figures.md)" -ge 3 ] || { echo "FAILED: figures.md of sheet.sh"; exit 1; }
for figure in $(sed -n 's/^!.*(\(figures[^)]*\))$/\1/p' sheet/gallery/figures.md); do # the sheet of every figure
  [ -s "sheet/gallery/$figure" ] || { echo "FAILED: sheet.sh lacks $figure"; exit 1; }
done
for name in consolidation measured-node policies floorplan; do # the quick ones
  bash "$project/examples/gallery/$name/run.sh" "out/gallery/$name" >gallery.txt 2>&1 || { tail gallery.txt; echo "FAILED: gallery $name"; exit 1; }
  ls "out/gallery/$name"/figure.* >/dev/null || { echo "FAILED: gallery $name draws nothing"; exit 1; }
done
"$project/tests/cli/twice.py" --list "$thermix" "$project" docs/guide.md >commands.sh
[ "$(grep -c '^thermix' commands.sh)" -ge 35 ] || { echo "FAILED: no commands found"; exit 1; }
bash -euo pipefail -x commands.sh >log.txt 2>&1 || { tail -20 log.txt; echo "FAILED"; exit 1; }
for file in short/table.csv short/figures/figure3.svg mnu/figures/heatmap.svg report.html spread.svg compare/table.csv \
  compare/figures/floorplans.svg cooling.sqlite cooling/peak_temp_c_by_r_convec.svg cooling.html first.html why.svg \
  two-mu/figures/heatmap.svg fan.pdf fan.figure/data; do
  [ -e "out/$file" ] || { echo "FAILED: no out/$file"; exit 1; }
done
grep -q '15 there before, 25 done now, 0 failed' log.txt || { grep 'there before' log.txt; echo "FAILED: resume"; exit 1; }
echo "$(grep -c '^thermix' commands.sh) commands of the guide work"
