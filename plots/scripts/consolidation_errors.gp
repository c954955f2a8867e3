# SPDX-License-Identifier: GPL-3.0-or-later
wide = 8; high = 8.4
scripts = ARG0[1:strlen(ARG0)-strlen("consolidation_errors.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -30 scale 0 font small
# data (times), STEM_2.csv (powers): case, the paper's value, ours
set rmargin 10 # the last name goes beyond its bar
set multiplot layout 2,1
set title "Time of merged kernels (paper 004, Figures 3 and 4)"
set ylabel "time (s)"
plot data using 2:xtic(1) skip 1 lc rgb colour("cpu") title "paper", "" using 3 skip 1 lc rgb colour("manual") title "ours"
set title "GPU power from event rates (paper 004, Figure 5)"
set ylabel "power (W)"
plot stem."_2.csv" using 2:xtic(1) skip 1 lc rgb colour("cpu") title "paper", "" using 3 skip 1 lc rgb colour("manual") title "ours"
unset multiplot
