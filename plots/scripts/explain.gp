# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, hottest_c, then a column a cause, % of the SMs' busy time of each bin.
# STEM_sm.csv: sm and the same causes, SM seconds. Labels: the causes, trip_c (0: no throttle).
high = 6.6
scripts = ARG0[1:strlen(ARG0)-strlen("explain.gp")]
load scripts."labels.gp"
load scripts."style.gp"
by_sm = stem."_sm.csv"
n = n_name
trip_c = number_of("trip_c")
set multiplot
set lmargin at screen (size eq "small" ? 0.2 : 0.13)
set rmargin at screen 0.97
set title offset 0,-0.5
set ylabel font small
set ytics font small
stats data using 1 skip 1 nooutput
last = STATS_max
set xrange [0:last > 0 ? last : 1]
# losses, stacked from the last cause to the first
set tmargin at screen 0.90
set bmargin at screen 0.64
set format x ""
set key at screen 0.5,0.985 top center maxrows 1
set ylabel "lost (% of SM time)"
set yrange [0:*]
if (n == 0) set yrange [0:1]
set title "What was lost over time"
upto(i) = sum [k=1:i] (column(k+2) > 0 ? column(k+2) : 0)
if (n > 0) plot for [i=n:1:-1] data using 1:(upto(i)) skip 1 with fillsteps lc rgb colour(name(i)) title name(i)
if (n == 0) plot 0 notitle
# the heat below it
unset key
set format x "% h"
set tmargin at screen 0.57
set bmargin at screen 0.40
set title "The hottest SM"
set ylabel "temperature (°C)"
set xlabel "time (s)" offset 0,0.6
set yrange [*:*] # stats leaves out what is not in it
stats data using 2 skip 1 nooutput
set ytics tics((trip_c+2 > STATS_max ? trip_c+2 : STATS_max) - STATS_min, 4)
if (trip_c > 0) set yrange [*:trip_c+2<*]
if (trip_c > 0) set arrow 1 from graph 0, first trip_c to graph 1, first trip_c nohead lt 6 dt 2 front
if (trip_c > 0) set label 1 sprintf("stop %g °C", trip_c) at graph 0.99, first trip_c right offset 0,-0.7 tc lt 6 font small
plot data using 1:2 skip 1 with lines lt 1
unset arrow
unset label
# who lost it
set tmargin at screen 0.245
set bmargin at screen 0.09
set title "What each SM lost"
set ytics autofreq
set ylabel "lost (SM s)"
set xlabel "SM" offset 0,0.3
set yrange [0:*]
if (n > 0) stats by_sm using (sum [k=1:n] (column(k+1) > 0 ? column(k+1) : 0)) skip 1 nooutput
if (n > 0) set ytics tics(STATS_max, 4)
stats by_sm using 1 skip 1 nooutput
if (n == 0) set yrange [0:1]
set xrange [-0.7:STATS_max+0.7]
set boxwidth 0.8
set xtics scale 0
above(i) = sum [k=1:i] (column(k+1) > 0 ? column(k+1) : 0)
if (n > 0) plot for [i=n:1:-1] by_sm using 1:(above(i)) skip 1 with boxes lc rgb colour(name(i))
if (n == 0) plot 0
unset multiplot
