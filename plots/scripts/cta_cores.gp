# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figures 3 and 4: performance, memory latency and power against the number of cores.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_cores.gp     reads dir/sweep.csv, writes dir/cores.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/cores.svg"
wide = 10; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set key maxrows 1
set xlabel "cores"
memory = "MUM LBM KMN BFS PVC"
compute = "CONV BLK BP BINO DXTC"
rows(k) = "<awk -F, '$1 == \"".k."\"' '".dir."/sweep.csv'"
set multiplot layout 3,2
set title "(a) compute-intensive"
set ylabel "performance (one core)"
plot for [k in compute] rows(k) using 3:4 with linespoints title k
set title "(c) memory-intensive"
plot for [k in memory] rows(k) using 3:4 with linespoints title k
set title "(b) compute-intensive"
set ylabel "memory latency (one core)"
set yrange [0:*]
plot for [k in compute] rows(k) using 3:5 with linespoints title k
set title "(d) memory-intensive"
plot for [k in memory] rows(k) using 3:5 with linespoints title k
set title "Figure 4: power, memory-intensive"
set ylabel "power (W)"
plot for [k in memory] rows(k) using 3:6 with linespoints title k
set title "energy-delay product, memory-intensive"
set ylabel "EDP (J s)"
set logscale y
unset yrange
plot for [k in memory] rows(k) using 3:8 with linespoints title k
unset multiplot
