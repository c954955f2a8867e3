#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The figures of docs/notes/tabs.md: ranges of every printed number over the sets beside this file and those in walks/, and energy against
# loop gain.
# Usage: figures.sh, with thermix and gnuplot in PATH.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
thermix posterior . --format csv > "$work/design.csv" 2> /dev/null
thermix posterior walks --format csv > "$work/walks.csv" 2> /dev/null
# one row a printed number: place, label, printed, 5/50/95 % of the design's sets and of the walks'
awk -F'\t' -v OFS='\t' '$4 != "" && !($1 == "model") { print ++n, $2, $3, $4, $5, $6, $7, $8, $9, $10 }' > "$work/ranges.tsv" <<D
$(python3 - "$work/design.csv" "$work/walks.csv" <<'P'
import csv, sys
short = {"slowdown, smallest non-zero": "BL, smallest slowdown", "slowdown, largest": "BL, largest", "slowdown": "BL, mean",
         "improvement over BL": "over BL", "improvement over BL, best policy": "over BL", "improvement over BL, weakest policy": "over BL",
         "improvement over DVFS, best policy": "over DVFS", "improvement over DVFS, weakest policy": "over DVFS",
         "improvement over BL, target mixes, best policy": "over BL, WL1-6", "improvement over BL, target mixes, weakest policy": "over BL, WL1-6",
         "improvement over DVFS, target mixes, best policy": "over DVFS, WL1-6", "improvement over DVFS, target mixes, weakest policy": "over DVFS, WL1-6",
         "energy saved over BL": "energy", "energy saved over BL, target mixes": "energy, WL1-6", "energy saved over DVFS, target mixes": "energy over DVFS, WL1-6",
         "energy saved over BL, implied by the mean of the target mixes": "energy (implied)", "coldest kernel below the hottest": "coldest kernel, K",
         "hottest and coldest in turns below the maximum": "in turns, K", "overhead of the 120 W micro-kernel": "120 W micro-kernel", "overhead in turns of 100 ms": "micro-kernels in turns"}
design = {(r["figure"], r["quantity"], r["case"]): r for r in csv.DictReader(open(sys.argv[1]))}
for r in csv.DictReader(open(sys.argv[2])):
    q = r["quantity"]
    if q not in short or float(r["paper"]) == 0:
        continue
    case = r["case"].replace("mean_target ", "").replace("mean ", "").replace("WL4,WL5,WL6 A", "A WL4-6")
    label = short[q] if r["figure"] in ("4.3", "section 3") else (case if case in ("A", "MU", "DVFS") else case.split()[1] + " " + case.split()[0] if not case.startswith("A WL4") else case) + ": " + short[q]
    d = design[r["figure"], q, r["case"]]
    print(r["figure"], label, r["paper"], *(d["prior_" + k] for k in ("5", "50", "95")), *(r["all_" + k] for k in ("5", "50", "95")), sep="\t")
P
)
D
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $2 == "done" { print $c["v41"], $c["v18"], $c["v20"], $c["v22"], $c["v1"], $c["v2"] }' sets.csv > "$work/sets.dat"
rows=$(wc -l < "$work/ranges.tsv")
gnuplot <<G
set terminal svg size 860,$((120 + rows * 22)) font "Helvetica,12" background "#ffffff"
set output "ranges.svg"
set datafile separator "\t"
set title "Printed, and 5 to 95 % of the sets"
set yrange [$((rows + 1)):0]
set xrange [-25:105]
set ytics nomirror
set xlabel "percent (K where it says so)"
set grid x lc rgb "#d8d8d8"
set key outside bottom center horizontal
set lmargin 30; set bmargin 8
plot "$work/ranges.tsv" using 5:1:4:6:yticlabels(2) with xerrorbars lc rgb "#bbbbbb" lw 6 pt -1 title "earlier draw: all that throttle as printed", \
     "" using 8:1:7:9 with xerrorbars lc rgb "#0072b2" lw 2 pt 7 ps 0.6 title "weighted, leakage as measured (median)", \
     "" using 3:1 with points lc rgb "#d55e00" pt 9 ps 1.1 title "printed"
unset output
set terminal svg size 860,400 font "Helvetica,12" background "#ffffff"
set output "energy.svg"
set datafile separator whitespace
set multiplot layout 1,2
unset yrange; unset xrange; unset lmargin; unset bmargin; set ytics auto; set grid; set key top left
set palette defined (0 "#0072b2", 0.5 "#cc79a7", 1 "#d55e00")
set title "Energy saved on WL1 against loop gain"
set xlabel "loop gain of leakage at 90 degC"
set ylabel "energy saved by A on WL1 (%)"
set xrange [0:2]
set object 1 rectangle from 0.08,graph 0 to 0.25,graph 1 fc rgb "#dddddd" fs solid noborder behind
set label 1 "measured\nchips" at 0.27,graph 0.7 font ",10"
plot "$work/sets.dat" using 1:2 pt 7 ps 0.6 lc rgb "#0072b2" title "sets", 15.75 lc rgb "#d55e00" lw 2 title "printed: 15.75"
unset object; unset label
set title "WL3 and WL4 to WL6 together"
set xlabel "energy saved on WL4 to WL6, mean (%)"
set ylabel "energy saved by A on WL3 (%)"
set cblabel "smallest slowdown of BL (%)"
set cbrange [0:6]
unset xrange
set object 2 rectangle from 4.1,7.89 to 7.1,10.89 fs empty border rgb "#d55e00" lw 2
plot "$work/sets.dat" using 4:3:5 pt 7 ps 0.6 palette notitle, "-" pt 9 ps 1.2 lc rgb "#d55e00" title "printed, with its band"
5.6 9.39
e
unset multiplot
G
