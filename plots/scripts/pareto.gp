# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown against energy; the points no other beats in both are joined.
# data: two blocks of name, slowdown_pct, energy_kj: all points, then those on the front by slowdown. Variable names: of the points, in order; "" for many.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set title "Energy against slowdown, means; left and below is better"
set xlabel "slowdown (%)"
set ylabel "energy (kJ)"
stats data index 0 using 3 skip 1 nooutput
set ytics tics(STATS_max - STATS_min, 4)
set key outside right center vertical maxcols 1 spacing 1.7
set xrange [0:*]
stats data index 0 using 2 skip 1 nooutput
set xtics tics(STATS_max, 5)
stats data index 1 using 2 nooutput
front = STATS_records > 1 ? "not beaten" : "" # one point: no line
set offsets 0, graph 0.06, graph 0.08, graph 0.06
n_name = words(names)
name(i) = word(names, i)
load scripts."/paint.gp"
if (names eq "") plot data index 1 using 2:3 with linespoints lt 6 lw 1 pt 6 ps 1.6 title "not beaten", \
     "" index 0 using 2:3 skip 1 with points lt 1 ps 0.8 title "all"
if (names ne "") plot data index 1 using 2:3 with lines lt 7 lw 1 title front, \
     for [i=1:words(names)] "" index 0 every ::i-1::i-1 using 2:3 skip 1 with points pt 7 lc rgb paint(i) ps 0.9+0.35*(words(names)-i) title word(names, i) # rings where points coincide
