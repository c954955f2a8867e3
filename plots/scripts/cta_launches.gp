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
set title "Cores that TCS settles for in the kernels of BFS (paper 000, Figure 9)"
set key maxrows 1
set y2range [10:*]
paper = "<awk -f '".scripts."/csv.awk' -f '".scripts."/select.awk' -v where='quantity~^cores ;case~^BFS kernel .* tcs$' -v show='case;paper_value' '".dir."/paper.csv' 2>/dev/null | sed -e 's/BFS kernel //' -e 's/ tcs//'"
plot rows using 4:6 with boxes title "cores under TCS", "" using 4:9 axes x1y2 with points pt 7 ps 1.3 lc rgb "#ffffff" notitle, "" using 4:9 axes x1y2 with points pt 7 ps 0.9 lc rgb colour("htcs") title "time (right axis)", \
     paper using 1:2 with points pt 13 ps 1.4 lc rgb "#ffffff" notitle, "" using 1:2 with points pt 13 ps 0.9 lc rgb "#000000" title "paper"
