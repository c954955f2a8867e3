# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown against energy; the points no other beats in both are joined.
# data: name, slowdown_pct, energy_kj: all points; STEM_front.csv: those on the front by slowdown. Labels: the points' names in order; none
# for many.
scripts = ARG0[1:strlen(ARG0)-strlen("pareto.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set title "Energy against slowdown, means; left and below is better"
set xlabel "slowdown (%)"
set ylabel "energy (kJ)"
stats data using 3 skip 1 nooutput
set ytics tics(STATS_max - STATS_min, 4)
set key outside right center vertical maxcols 1 spacing 1.7
set xrange [0:*]
stats data using 2 skip 1 nooutput
set xtics tics(STATS_max, 5)
front_data = stem."_front.csv"
stats front_data using 2 skip 1 nooutput
front = STATS_records > 1 ? "not beaten" : "" # one point: no line
set offsets 0, graph 0.06, graph 0.08, graph 0.06
load scripts."paint.gp"
if (n_name == 0) plot front_data using 2:3 skip 1 with linespoints lt 6 lw 1 pt 6 ps 1.6 title "not beaten", \
     data using 2:3 skip 1 with points lt 1 ps 0.8 title "all"
if (n_name > 0) plot front_data using 2:3 skip 1 with lines lt 7 lw 1 title front, \
     for [i=1:n_name] data every ::i-1::i-1 using 2:3 skip 1 with points pt 7 lc rgb paint(i) ps 0.9+0.35*(n_name-i) title name(i) # rings where points coincide
