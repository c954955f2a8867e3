# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 4.2
scripts = ARG0[1:strlen(ARG0)-strlen("cta_launches.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set boxwidth 0.8
set xlabel "kernel of BFS"
set ylabel "cores"
set y2label "time (µs)"
set y2tics
set logscale y2
set yrange [0:30]
set title "Cores that TCS settles for in the kernels of BFS (paper 000, Figure 9)"
set key maxrows 1
set y2range [10:*]
# data: launch, cores, time_us; STEM_paper.csv: case ("BFS kernel 7 tcs"), value
plot data using 1:2 skip 1 with boxes title "cores under TCS", "" using 1:3 skip 1 axes x1y2 with points pt 7 ps 1.3 lc rgb "#ffffff" notitle, "" using 1:3 skip 1 axes x1y2 with points pt 7 ps 0.9 lc rgb colour("htcs") title "time (right axis)", \
     stem."_paper.csv" using (real(word(strcol(1), 3))):2 skip 1 with points pt 13 ps 1.4 lc rgb "#ffffff" notitle, "" using (real(word(strcol(1), 3))):2 skip 1 with points pt 13 ps 0.9 lc rgb "#000000" title "paper"
