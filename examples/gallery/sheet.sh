#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The sheet of every figure and screen, docs/gallery: figures.md of the suites named (all that draw some), screens.md at 80, 100 and
# 200 columns and into a pipe. Usage: sheet.sh [SUITE...|screens]; thermix in PATH. Tables in out/sheet are not made again.
set -euo pipefail
cd "$(dirname "$0")/../.."
sheet=docs/gallery out=out/sheet
[ $# -gt 0 ] || set -- tabs tabs-multi stragglers tcs warped-gates apsa consolidation consolidation_day short
mkdir -p $sheet/figures $out

for suite in "$@"; do
  [ "$suite" != screens ] || continue
  echo "$suite" >&2
  tick=
  case $suite in # coarse: for the eye
    tabs) tick="--set tick_s=0.01" ;;
    tabs-multi) tick="--set tick_s=0.05 --set sensor.period_s=0.05" ;;
  esac
  # shellcheck disable=SC2086
  [ -f "$out/$suite/table.csv" ] || thermix table "$suite" $tick -q -o "$out/$suite" >/dev/null
  rm -rf "$out/$suite/figures" $sheet/figures/"$suite"-*
  for figure in $(thermix plot "$out/$suite" -o "$out/$suite/figures"); do
    name=$(basename "$figure" .svg)
    if [ "$(wc -c <"$figure")" -gt 400000 ]; then # thousands of cells: as a picture
      thermix plot "$out/$suite" --figure "$name" -q -o "$out/$suite/$name.png"
      cp "$out/$suite/$name.png" "$sheet/figures/$suite-$name.png"
    else
      cp "$figure" "$sheet/figures/$suite-$name.svg"
    fi
  done
done
{
  echo "# Every figure"
  echo
  echo "What \`thermix plot\` draws of the suites' tables; made by \`examples/gallery/sheet.sh\`. Suites \`tabs\` and"
  echo "\`tabs-multi\` are at a coarse tick here: numbers to quote are in [reproduction](../reproduction.md)."
  last=
  for figure in $sheet/figures/*; do
    file=$(basename "$figure")
    suite=
    for one in $(thermix list suites --format csv | cut -d, -f1); do
      case $file in "$one"-*) [ ${#one} -gt ${#suite} ] && suite=$one ;; esac
    done
    [ "$suite" = "$last" ] || printf '\n## %s\n' "$suite"
    last=$suite
    name=${file#"$suite"-}
    printf '\n%s\n\n![%s](figures/%s)\n' "\`${name%.*}\`" "$suite, ${name%.*}" "$file"
  done
} >$sheet/figures.md

# A screen at every width; widths that print the same share a block.
bad=
show() { # show WORDS COMMAND...
  local title=$1 columns before="" now
  shift
  printf '\n## %s\n' "$title"
  for columns in 80 100 200 0; do
    now=$(python3 examples/gallery/terminal.py $columns "$@") || bad="$bad; $* ($columns)"
    [ "$now" != "$before" ] || { printf '\nThe same %s.\n' "$(where $columns)"; continue; }
    before=$now
    printf '\n```text\n[%s] $ %s\n%s\n```\n' "$(where $columns)" "$*" "$now"
  done
}
where() { [ "$1" = 0 ] && echo "into a pipe" || echo "$1 columns"; }
sample=docs/examples/measured/card.csv
[ -f out/sheet/fan.sqlite ] || thermix sweep examples/gallery/fan-sweep/study.cfg -q -o out/sheet/fan.sqlite
{
  echo "# Screens"
  echo
  echo "Commands on terminals of 80, 100 and 200 columns and into a pipe; made by \`examples/gallery/sheet.sh\`."
  show "What there is" thermix --help
  show "One command" thermix run --help
  show "A run" thermix run study
  show "A run of many GPUs" thermix run hall --set tick_s=0.05 --set sensor.period_s=0.05 --set rows=16 --set cols=16
  show "Why it was slow" thermix explain study
  show "A suite" thermix table short
  show "Chosen columns" thermix table short --columns mix,policy,slowdown_pct,peak_temp_c,energy_j
  show "Runs" thermix list runs
  show "Suites" thermix list suites
  show "Policies" thermix list policies
  show "Chips" thermix list chips
  show "A chip" thermix check floorplans/gtx280
  show "Bounds" thermix bound short
  show "Watts" thermix budget gtx280
  show "A study" thermix query out/sheet/fan.sqlite --rows speed --pivot policy --value slowdown_pct
  show "Every run of a study" thermix query out/sheet/fan.sqlite
  show "What moves a metric" thermix sensitivity out/sheet/fan.sqlite --output slowdown_pct
  show "Cores" thermix cta MUM --policy all,tcs,htcs
  show "Gating" thermix gate NN
  show "A log" thermix log show "$sample"
  show "Against measurements" thermix validate
} >$sheet/screens.md
[ -z "$bad" ] || { echo "failed, or wider than the terminal$bad" >&2; exit 1; }
