# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 10
scripts = ARG0[1:strlen(ARG0)-strlen("cta_cores.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set key maxrows 1 font small
set xlabel "cores"
# names 1 to 5 are memory-intensive kernels, 6 to 10 compute-intensive ones
set multiplot layout 3,2
set title "Compute-intensive (paper 000, Figure 3a)"
set ylabel "performance / one core's"
set yrange [0:*]
plot for [k=6:10] data using 1:(column(k+1)) skip 1 with linespoints title name(k)
set title "Memory-intensive (Figure 3c)"
plot for [k=1:5] data using 1:(column(k+1)) skip 1 with linespoints title name(k)
set title "Compute-intensive (Figure 3b)"
set ylabel "memory latency / one core's"
plot for [k=6:10] stem."_2.csv" using 1:(column(k+1)) skip 1 with linespoints title name(k)
set title "Memory-intensive (Figure 3d)"
plot for [k=1:5] stem."_2.csv" using 1:(column(k+1)) skip 1 with linespoints title name(k)
set title "Memory-intensive, power (Figure 4)"
set ylabel "power (W)"
plot for [k=1:5] stem."_3.csv" using 1:(column(k+1)) skip 1 with linespoints title name(k)
set title "Memory-intensive, energy-delay product"
set ylabel "EDP (J s)"
set logscale y
unset yrange
plot for [k=1:5] stem."_4.csv" using 1:(column(k+1)) skip 1 with linespoints title name(k)
unset multiplot
