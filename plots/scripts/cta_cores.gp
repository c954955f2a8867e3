# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figures 3 and 4: performance, memory latency and power against the number of cores.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_cores.gp     reads dir/sweep.csv, writes dir/cores.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/cores.svg"
wide = 10; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set key maxrows 1 font small
set xlabel "cores"
memory = "MUM LBM KMN BFS PVC"
compute = "CONV BLK BP BINO DXTC"
rows(k) = "<awk -F, '$1 == \"".k."\"' '".dir."/sweep.csv'"
set multiplot layout 3,2
set title "Compute-intensive (paper 000, Figure 3a)"
set ylabel "performance / one core's"
set yrange [0:*]
plot for [k in compute] rows(k) using 3:4 with linespoints title k
set title "Memory-intensive (Figure 3c)"
plot for [k in memory] rows(k) using 3:4 with linespoints title k
set title "Compute-intensive (Figure 3b)"
set ylabel "memory latency / one core's"
plot for [k in compute] rows(k) using 3:5 with linespoints title k
set title "Memory-intensive (Figure 3d)"
plot for [k in memory] rows(k) using 3:5 with linespoints title k
set title "Memory-intensive, power (Figure 4)"
set ylabel "power (W)"
plot for [k in memory] rows(k) using 3:6 with linespoints title k
set title "Memory-intensive, energy-delay product"
set ylabel "EDP (J s)"
set logscale y
unset yrange
plot for [k in memory] rows(k) using 3:8 with linespoints title k
unset multiplot
