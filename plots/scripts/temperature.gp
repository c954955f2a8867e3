# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, coolest_c, mean_c, hottest_c, stopped_share_1, each since the row before. Labels: trip_c, release_c, target_c (NaN: none), title, x, y.
scripts = ARG0[1:strlen(ARG0)-strlen("temperature.gp")]
load scripts."labels.gp"
load scripts."style.gp"
trip_c = number_of("trip_c")
release_c = number_of("release_c")
target_c = has("target_c") ? number_of("target_c") : NaN
set title word_of("title")
set xlabel word_of("x")
set ylabel word_of("y")
set key maxrows 2 width -2
if (size eq "small") set key font small maxrows 3 width 0
set y2range [0:1]
stats data using 5 skip 1 nooutput
stopped = STATS_max > 0
stats data using 2 skip 1 nooutput
lowest = STATS_min
stats data using 4 skip 1 nooutput
limited = trip_c == trip_c # not NaN: a run without a throttle has no limits
highest = limited && trip_c > STATS_max ? trip_c : STATS_max
aimed = target_c == target_c
if (aimed && target_c > highest) highest = target_c
set yrange [lowest-1:highest+2]
set ytics tics(highest - lowest + 3, size eq "small" ? 4 : 8)
if (limited) set arrow 1 from graph 0, first trip_c to graph 1, first trip_c nohead lt 6 dt 2 front
if (limited) set arrow 2 from graph 0, first release_c to graph 1, first release_c nohead lt 7 dt 3 front
if (aimed) set arrow 3 from graph 0, first target_c to graph 1, first target_c nohead lt 6 dt 4 front
plot data using 1:5 axes x1y2 with fillsteps fc rgb "#f6d5c3" title (stopped ? (size eq "small" ? "SMs stopped (share)" : "SMs stopped (full height: all)") : ""), \
     "" using 1:2:4 with filledcurves fc rgb "#bcd9ec" fs solid noborder title "all SMs", \
     "" using 1:3 with lines lt 1 title "mean", \
     1/0 with lines lt 6 dt 2 title (limited ? sprintf("stop %g °C", trip_c) : ""), \
     1/0 with lines lt 7 dt 3 title (limited ? sprintf("release %g °C", release_c) : ""), \
     1/0 with lines lt 6 dt 4 title (aimed ? sprintf("governor\047s target %g °C", target_c) : "")
