#!/usr/bin/env bash
# `thermix plot` draws every figure there is data for, in every format, and says what is missing.
# Usage: figures.sh THERMIX
set -euo pipefail
thermix=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
say() { echo "FAILED: $*"; exit 1; }

mkdir single multi
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,energy_j,energy_saved_vs_bl_pct,variant,error"
  for mix in WL1 WL2 mean mean_target; do
    echo "$mix,BL,6.8,0,80000,0,,"
    echo "$mix,DVFS,4.9,28,76000,5,,"
    echo "$mix,MNU,2.5,63,77000,-1,,"
  done
} >single/table.csv
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,variant"
  for t in T3 T1 T2 fan-curve; do for mix in WL1 mean; do for p in MG-BL MG-DVFS MG-MU; do echo "$mix,$p,5,20,$t"; done; done; done
} >multi/table.csv
for format in svg png pdf; do
  "$thermix" plot single -o "f_$format" --format $format >names.txt
  "$thermix" plot multi -o "f_$format" --format $format >>names.txt
  for figure in figure3 figure4 slowdown pareto figure5 figure6; do
    [ -s "f_$format/$figure.$format" ] || say "no $figure.$format"
    grep -qx "f_$format/$figure.$format" names.txt || say "$figure not named"
  done
done
printf 'mix,DVFS,MNU\nWL1,28,63\nWL2,28,63\nmean,28,63\n' | cmp - f_svg/data/figure3.csv || say data of figure 3
printf 'variant,MG-DVFS,MG-MU\nT1,20,20\nT2,20,20\nT3,20,20\n' | cmp - f_svg/data/figure6.csv || say data of figure 6
for words in 'improvement over BL (%)' WL1 DVFS MNU mean; do grep -qF "$words" f_svg/figure3.svg || say "figure 3 lacks $words"; done

refuses() { # "words" ARGUMENT...
  local words=$1 code=0
  shift
  "$thermix" "$@" 2>err.txt >/dev/null || code=$?
  [ $code = 2 ] && grep -qF -- "$words" err.txt || say "$*: exit $code, $(cat err.txt)"
}
refuses 'nothing to draw' plot . -o x
refuses 'unknown format "bmp"' plot single -o x --format bmp
refuses 'cannot open' plot none.sqlite -o x
code=0
PATH=/nowhere "$thermix" plot single -o x 2>err.txt || code=$?
[ $code = 2 ] && grep -q 'gnuplot is not installed' err.txt || say "without gnuplot: $code $(cat err.txt)"
code=0
PATH=/nowhere "$thermix" animate single -o heat.mp4 2>err.txt || code=$?
[ $code = 2 ] && grep -q 'ffmpeg is not installed' err.txt || say "without ffmpeg: $code $(cat err.txt)"
refuses 'ends in .mp4 or .gif' animate single -o heat.avi
echo "figures drawn in svg, png and pdf"
