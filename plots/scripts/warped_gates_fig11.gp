# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 7.6
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig11.gp")]
load scripts."labels.gp"
load scripts."style.gp"
# data: break-even time; STEM_2.csv: wake-up time; then by policy INT saved, FP saved, slowdown. Labels: the policies.
set key maxrows 2
set multiplot layout 2,2
set title "Energy against break-even time (paper 001, Figure 11)"
set yrange [0:*]
set xlabel "break-even time (cycles)"
set ylabel "static energy saved (%)"
plot for [i=1:n_name] data using 1:(column(i+1)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) dt 1 title name(i)." INT", \
     for [i=1:n_name] data using 1:(column(i+3)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) dt 2 title name(i)." FP"
set title "Slowdown against break-even time"
set ylabel "slowdown (%)"
plot for [i=1:n_name] data using 1:(column(i+5)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) title name(i)
set title "Energy against wake-up time"
set xlabel "wake-up time (cycles)"
set ylabel "static energy saved (%)"
plot for [i=1:n_name] stem."_2.csv" using 1:(column(i+1)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) dt 1 title name(i)." INT", \
     for [i=1:n_name] stem."_2.csv" using 1:(column(i+3)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) dt 2 title name(i)." FP"
set title "Slowdown against wake-up time"
set ylabel "slowdown (%)"
plot for [i=1:n_name] stem."_2.csv" using 1:(column(i+5)) skip 1 smooth unique with linespoints lc rgb colour(name(i)) title name(i)
unset multiplot
