# SPDX-License-Identifier: GPL-3.0-or-later
# data: name, x, y: all points; STEM_front.csv: the same of those on the front. Labels: title, x, y; the points' names in order; none for many.
scripts = ARG0[1:strlen(ARG0)-strlen("pareto.gp")]
load scripts."labels.gp"
if (size eq "small") high = 5
load scripts."style.gp"
set title word_of("title")
set xlabel word_of("x")
set ylabel word_of("y")
stats data using 3 skip 1 nooutput
set ytics tics(STATS_max - STATS_min, 4)
set xrange [0:*]
stats data using 2 skip 1 nooutput
set xtics tics(STATS_max, 5)
if (size eq "small") { set key font small outside bottom center horizontal maxrows 3 } else { set key outside right center vertical maxcols 1 spacing (size eq "large" ? 1.2 : 1.5) }
front_data = stem."_front.csv"
stats front_data using 2 skip 1 nooutput
front = STATS_records > 1 ? "not beaten" : "" # one point: no line
set offsets 0, graph 0.06, graph 0.08, graph 0.06
load scripts."paint.gp"
if (n_name == 0) plot front_data using 2:3 skip 1 with linespoints lt 6 lw 1 pt 6 ps 1.6 title "not beaten", \
     data using 2:3 skip 1 with points lt 1 ps 0.8 title "all"
if (n_name > 0) plot front_data using 2:3 skip 1 with lines lt 7 lw 1 title front, \
     for [i=1:n_name] data every ::i-1::i-1 using 2:3 skip 1 with points pt mark(i) lc rgb paint(i) ps 1.5 title name(i)
