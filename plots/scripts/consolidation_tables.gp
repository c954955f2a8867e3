# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 5
scripts = ARG0[1:strlen(ARG0)-strlen("consolidation_tables.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set logscale y # points: bars have no foot there
set offsets 0.5, 0.5, 0, 0
set xtics rotate by -35
set key maxrows 1
# data: case, then by setup the time, the paper's, the energy, the paper's. Labels: the setups.
set multiplot layout 1,2
set title "Time of the mixes (paper 004, Tables 5 and 7)"
set ylabel "time (s)"
plot for [i=1:n_name] data using 0:(column(i+1)):xtic(1) skip 1 with points pt 7 ps 0.9 lc rgb colour(name(i)) title name(i), \
     for [i=1:n_name] data using 0:(column(i+1+n_name)) skip 1 with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" notitle, \
     NaN with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" title "paper"
set format y "%.0f"
set title "Energy of the mixes (paper 004, Tables 6 and 8)"
set ylabel "energy (J)"
plot for [i=1:n_name] data using 0:(column(i+1+2*n_name)):xtic(1) skip 1 with points pt 7 ps 0.9 lc rgb colour(name(i)) title name(i), \
     for [i=1:n_name] data using 0:(column(i+1+3*n_name)) skip 1 with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" notitle, \
     NaN with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" title "paper"
unset multiplot
