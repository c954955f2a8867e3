# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figure 9: cores that TCS settles for in every kernel of BFS.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_launches.gp     reads dir/launches.csv, writes dir/launches.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/launches.svg"
wide = 10; high = 4.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set boxwidth 0.8
set xlabel "kernel of BFS"
set ylabel "cores"
set y2label "time (µs)"
set y2tics
set logscale y2
set yrange [0:30]
rows = "<awk -F, '$1 == \"BFS\" && $2 == \"tcs\"' '".dir."/launches.csv'"
plot rows using 4:6 with boxes title "cores under TCS", "" using 4:9 axes x1y2 with points pointtype 7 title "time"
