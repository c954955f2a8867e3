# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 7
scripts = ARG0[1:strlen(ARG0)-strlen("consolidation_curves.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set key maxrows 1
set yrange [0:*]
set xlabel "instances"
# data (encryption), STEM_2.csv (sorting): instances, then time by setup, energy by setup. Labels: the setups.
set multiplot layout 2,2
do for [f=1:2] {
    from = stem.(f == 2 ? "_2" : "").".csv"
    set title f == 2 ? "Sorting (paper 004, Figure 8)" : "Encryption (paper 004, Figures 1 and 7)"
    set ylabel "time (one instance on the CPU)"
    plot for [i=1:n_name] from using 1:(column(i+1)) skip 1 with linespoints lc rgb colour(name(i)) title name(i)
    set ylabel "energy (W × that time)"
    plot for [i=1:n_name] from using 1:(column(i+1+n_name)) skip 1 with linespoints lc rgb colour(name(i)) title name(i)
}
unset multiplot
