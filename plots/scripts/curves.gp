# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s or row, coolest_c, hottest_c, then a column a block. Labels: the blocks'
# names, title, x, y, band (1: the band from the coolest to the hottest of all blocks, of which these are the hottest).
scripts = ARG0[1:strlen(ARG0)-strlen("curves.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set title word_of("title")
set xlabel word_of("x")
set ylabel word_of("y")
band = number_of("band") > 0
set key outside right center vertical maxcols 1 spacing 1.2
stats data using 1 skip 1 nooutput
one_row = STATS_records < 2
if (one_row) { set xrange [0:2*STATS_max] } else { set autoscale xfix }
set offsets 0, 0, graph 0.04, graph 0.02
plot for [i=1:band] data using 1:2:3 skip 1 with filledcurves fc rgb "#bcd9ec" fs solid noborder title "all blocks", \
     for [i=1:n_name] data using 1:(column(i+3)) skip 1 with linespoints pt 7 ps (one_row ? 1 : 0) lc rgb series(i) dt dash(i) title name(i)
