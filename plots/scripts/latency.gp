# SPDX-License-Identifier: GPL-3.0-or-later
# data: latency, class, seconds, slower_pct. Labels: classes (1 or 2).
scripts = ARG0[1:strlen(ARG0)-strlen("latency.gp")]
load scripts."labels.gp"
load scripts."style.gp"
two = number_of("classes") > 1
what(i) = word("ttft tbt e2e", i)
says(i) = i == 1 ? "first token" : i == 2 ? "between tokens" : "whole request"
set title "Requests that take longer"
set xlabel "time (s)"
set ylabel "share of the requests (%)"
set logscale xy
stats data using 4 skip 1 nooutput
least = STATS_min > 0.01 ? STATS_min : 0.01
set yrange [least:100]
set xrange [*:*]
set ytics ("100" 100, "50" 50, "10" 10, "1" 1, "0.1" 0.1, "0.01" 0.01)
set format x "%g"
set grid xtics ytics lt 1 lc rgb "#d8d8d8" lw 0.6
set key maxrows 1
named = two ? "low priority" : ""
plot for [i=1:3] data using (strcol(1) eq what(i) && strcol(2) eq "high" ? $3 : NaN):4 skip 1 with lines lt i title says(i), \
     for [i=1:3] data using (strcol(1) eq what(i) && strcol(2) eq "low" ? $3 : NaN):4 skip 1 with lines lt i dt 2 notitle, \
     1/0 with lines lt 7 dt 2 title named
