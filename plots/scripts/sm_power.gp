# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, sm, power_w, kernel, freq_mhz. Labels: n_sm, title, x, y (of the upper part).
high = 5.2
scripts = ARG0[1:strlen(ARG0)-strlen("sm_power.gp")]
load scripts."labels.gp"
load scripts."style.gp"
n_sm = int(number_of("n_sm"))
set multiplot
unset key
unset grid
set lmargin at screen (size eq "small" ? 0.24 : 0.15)
set rmargin at screen (n_sm == 1 ? 0.96 : size eq "small" ? 0.76 : 0.82)
stats data using 1 skip 1 nooutput
set xtics tics(STATS_max - STATS_min, size eq "small" ? 4 : 7)
set tmargin at screen 0.93
set bmargin at screen 0.43
set title word_of("title") offset 0,-0.5
set ylabel word_of("y")
set format x ""
set autoscale xfix
set autoscale yfix
if (n_sm > 1) set label 9999 "power (W)" at screen (size eq "small" ? 0.965 : 0.975), screen 0.68 center rotate by 90
set cbtics format "%g"
if (n_sm > 1) plot data using 1:2:3 skip 1 with image
if (n_sm == 1) set yrange [0:*]; set grid ytics; plot data using 1:3 skip 1 with steps lt 1; unset grid; set yrange [*:*]
unset title
unset label 9999
set tmargin at screen 0.37
set bmargin at screen (size eq "small" ? 0.20 : 0.15)
set format x "%g"
set grid ytics
set xlabel word_of("x")
set ylabel "clock (MHz)"
stats data using 5 skip 1 nooutput
set yrange [STATS_min-30:STATS_max+30]
set ytics tics(STATS_max - STATS_min + 60, 3)
plot data using 1:5 every n_sm skip 1 with steps lt 1
unset multiplot
