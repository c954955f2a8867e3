#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two pages for `./dev docs`, in out/sheet/gallery: figures.md has every figure of the suites named (default: all), of a run, a study and
# `explain`; screens.md has commands at 80, 100 and 200 columns and into a pipe. Figures for a column and a slide (--size small, large) are
# in out/sheet/small and out/sheet/large. Tables in out/sheet are not made again. OUT names another folder than out/sheet.
# Usage: sheet.sh [SUITE...|runs|screens], with thermix in PATH.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-out/sheet}
sheet=$out/gallery
[ $# -gt 0 ] || set -- tabs tabs-multi tabs-knobs stragglers node-8gpu modern tcs warped-gates apsa consolidation consolidation_day short runs screens
mkdir -p $sheet/figures $out

draw() { # draw NAME RESULTS: its figures at three sizes
  local size figure name
  for size in small large; do
    rm -rf "$out/$size/$1"
    thermix plot "$2" --size $size --format png -q -o "$out/$size/$1"
  done
  rm -rf "$out/$1.figures" $sheet/figures/"$1"__*
  for figure in $(thermix plot "$2" -o "$out/$1.figures"); do
    name=$(basename "$figure" .svg)
    if [ "$(wc -c <"$figure")" -gt 400000 ]; then # thousands of cells: as a picture
      thermix plot "$2" --figure "$name" -q -o "$out/$1.figures/$name.png"
      cp "$out/$1.figures/$name.png" "$sheet/figures/$1__$name.png"
    else
      cp "$figure" "$sheet/figures/$1__$name.svg"
    fi
  done
}

# What to see: the head of the script that the figure's labels name, up to its list of inputs.
caption() { # caption OF NAME
  local labels=$out/$1.figures/data/$2_labels.csv script
  [ "$1" != explain ] || labels=$out/explain/$2.figure/data/explain_labels.csv
  script=$(sed -n 's/^script,"\{0,1\}\([a-z0-9_]*\)"\{0,1\}$/\1/p' "$labels" 2>/dev/null || true)
  [ -z "$script" ] || sed -n '2s/^# //; 2s/ \(data:\|Label\|Variables\|STEM\).*//; 2p' "plots/scripts/$script.gp"
}

explain() { # explain NAME ARGUMENT...
  local name=$1 size
  shift
  for size in small large; do
    mkdir -p "$out/$size/explain"
    thermix explain "$@" --no-steps --size $size -o "$out/$size/explain/$name.png" >/dev/null
  done
  thermix explain "$@" --no-steps -o "$out/explain/$name.svg" >/dev/null
  cp "$out/explain/$name.svg" "$sheet/figures/explain__$name.svg"
}

runs() {
  [ -f $out/fan.sqlite ] || thermix sweep examples/gallery/fan-sweep/study.cfg -q -o $out/fan.sqlite
  [ -f $out/cooling.sqlite ] || thermix sweep workloads/suites/cooling-quick.cfg -q -o $out/cooling.sqlite
  [ -f $out/run/trace.csv ] || thermix run study --set policy=MU --trace 0.5 --hotspot 1 -q -o $out/run
  draw run $out/run
  draw study-of-fans $out/fan.sqlite
  draw study-sampled $out/cooling.sqlite
  rm -rf $out/explain $sheet/figures/explain__*
  mkdir -p $out/explain
  explain throttle study
  explain level study --set policy=DVFS
  explain mixing study --set policy=MNU --set throttle.trip_c=86 --set throttle.release_c=85
  explain cores study --set mix=WL5 --set policy=BL --set cta.policy=tcs
}

for suite in "$@"; do
  [ "$suite" != screens ] || continue
  echo "$suite" >&2
  tick=
  case $suite in # coarse: for the eye
    runs) runs; continue ;;
    tabs) tick="--set tick_s=0.01" ;;
    tabs-multi) tick="--set tick_s=0.05 --set sensor.period_s=0.05" ;;
    tabs-knobs) tick="--set tick_s=0.01 --set sensor.period_s=0.01 --set rows=16 --set cols=16" ;;
    node-8gpu) tick="--set tick_s=0.05 --set sensor.period_s=0.05" ;;
    modern) tick="--set rows=16 --set cols=16" ;;
  esac
  # shellcheck disable=SC2086
  [ -f "$out/$suite/table.csv" ] || thermix table "$suite" $tick -q -o "$out/$suite" >/dev/null
  draw "$suite" "$out/$suite"
done
{
  echo "# Every figure"
  echo
  echo "What \`thermix plot\` draws of the suites' tables, of a run and of studies, and \`thermix explain -o\`; made by"
  echo "\`examples/gallery/sheet.sh\`. Suites \`tabs\`, \`tabs-multi\`, \`tabs-knobs\`, \`node-8gpu\` and \`modern\` are coarse here: numbers"
  echo "to quote are in [reproduction](../reproduction.md)."
  last=
  for figure in $sheet/figures/*; do
    file=$(basename "$figure")
    of=${file%%__*}
    name=${file#*__}
    [ "$of" = "$last" ] || printf '\n## %s\n' "$of"
    last=$of
    printf '\n![%s, %s](figures/%s)\n\n`%s`: %s\n' "$of" "${name%.*}" "$file" "${name%.*}" "$(caption "$of" "${name%.*}")"
  done
} >$sheet/figures.md

case " $* " in *" screens "*) ;; *) exit 0 ;; esac

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
[ -f $out/fan.sqlite ] || thermix sweep examples/gallery/fan-sweep/study.cfg -q -o $out/fan.sqlite
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
  show "A study" thermix query $out/fan.sqlite --rows speed --pivot policy --value slowdown_pct
  show "Every run of a study" thermix query $out/fan.sqlite
  show "What moves a metric" thermix sensitivity $out/fan.sqlite --output slowdown_pct
  show "Cores" thermix cta MUM --policy all,tcs,htcs
  show "Gating" thermix gate NN
  show "A log" thermix log show "$sample"
} >$sheet/screens.md
[ -z "$bad" ] || { echo "failed, or wider than the terminal$bad" >&2; exit 1; }
