# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, mean_w, least_w, most_w, high_mhz, low_mhz, capped_pct, braked, hottest_c, memory_c, inlet_c. Labels: title, budget_w (NaN:
# none), what of the data there is (slowed, braked, high, low,
# heat, memory, binned), the thresholds' names with their threshold_w.
scripts = ARG0[1:strlen(ARG0)-strlen("row_power.gp")]
load scripts."labels.gp"
slowed = number_of("slowed") > 0
braked = number_of("braked") > 0
heat = number_of("heat") > 0
memory = number_of("memory") > 0
binned = number_of("binned") > 0
classes = number_of("high") > 0 && number_of("low") > 0
first_of = number_of("high") > 0 ? 5 : 6
n_panel = 1 + slowed + heat
high = 1.2 + 2.3 * n_panel + (n_panel == 1 ? 0.7 : 0)
load scripts."style.gp"
set ylabel font small
set ytics font small
stats data using 1 skip 1 nooutput
per = STATS_max > 3 * 3600 ? 3600 : STATS_max > 600 ? 60 : 1
unit = per == 3600 ? "h" : per == 60 ? "min" : "s"
set xrange [0:STATS_max/per]
step = tics(STATS_max / per, 6)
if (per == 3600 && STATS_max / per > 8) step = STATS_max / per > 72 ? 24 : STATS_max / per > 20 ? 4 : 2
set xtics step
budget_w = number_of("budget_w")
limited = budget_w == budget_w # not NaN
stats data using 4 skip 1 nooutput
most_w = STATS_max
kilo = most_w > 9999 ? 1000.0 : 1.0
# the highest of power and lines, with room above it
top = (limited && budget_w > most_w ? budget_w : most_w) * 1.03 / kilo
stats data using 3 skip 1 nooutput
low = STATS_min * 0.97 / kilo
at = list_of("threshold_w")." 0" # read also where there are none
do for [i=1:n_name] { if (real(word(at, i)) * 0.97 / kilo < low) { low = real(word(at, i)) * 0.97 / kilo } }
set multiplot
set lmargin at screen (size eq "small" ? 0.17 : 0.13)
set rmargin at screen 0.92
head = 1.0 / high        # the title and the key
foot = (size eq "small" ? 1.1 : 0.85) / high        # the time
gap = 0.42 / high         # between panels, a title
panel = (1.0 - head - foot - (n_panel - 1) * gap) / n_panel
top_of(i) = 1.0 - head - (i - 1) * (panel + gap)
place = 1
set tmargin at screen top_of(place)
set bmargin at screen top_of(place) - panel
set title word_of("title")."'s power".(limited ? "" : "; it has no budget") offset 0,-0.4
set key at screen 0.5,1.0-0.08/high top center maxrows 1 samplen 1.4 width -1 font small
set ylabel kilo > 1 ? "power (kW)" : "power (W)"
set yrange [low:top]
set ytics tics(top - low, 4)
last = place == n_panel
set format x last ? "% h" : ""
if (last) set xlabel "time (".unit.")"
do for [i=1:n_name] { set label i name(i) at graph 1.01, first real(word(at, i))/kilo left tc rgb "#444444" font small }
plot for [i=1:braked] data using ($1/per):(($8 > 0) ? top : NaN):(low) skip 1 with filledcurves fc rgb "#f2b8a0" fs solid noborder title "brake", \
     for [i=1:binned] data using ($1/per):($3/kilo):($4/kilo) skip 1 with filledcurves fc rgb "#bcd9ec" fs solid noborder title "least to most", \
     data using ($1/per):($2/kilo) skip 1 with lines lt 1 lw 1 title (binned ? "mean" : "power"), \
     for [i=1:limited] budget_w/kilo with lines lt 6 dt 2 title "budget", \
     for [i=1:n_name] real(word(at, i))/kilo with lines lt 7 dt 3 notitle
unset label
unset key
if (slowed) {
  place = place + 1
  last = place == n_panel
  set tmargin at screen top_of(place)
  set bmargin at screen top_of(place) - panel
  set format x last ? "% h" : ""
  if (last) { set xlabel "time (".unit.")" }
  set title "Clock that it leaves its slowest servers" offset 0,-0.4
  set ylabel "clock (MHz)"
  set yrange [0:*]
  stats data using first_of skip 1 nooutput
  set ytics tics(STATS_max, 4)
  set key bottom right inside maxrows 1 font small
  plot for [c=first_of:(classes ? 6 : first_of)] data using ($1/per):c skip 1 with steps lt c-4 title (classes ? word("high low", c-4)." priority" : "")
  unset key
}
if (heat) {
  place = place + 1
  set tmargin at screen top_of(place)
  set bmargin at screen top_of(place) - panel
  set format x "% h"
  set xlabel "time (".unit.")"
  set title "Its hottest sensors" offset 0,-0.4
  set ylabel "temperature (°C)"
  set yrange [*:*]
  stats data using 9 skip 1 nooutput
  hottest = STATS_max
  if (memory) { stats data using 10 skip 1 nooutput }
  if (memory && STATS_max > hottest) { hottest = STATS_max }
  stats data using 11 skip 1 nooutput
  set ytics tics(hottest - STATS_min, 4)
  set key at graph 0.5,0.99 top center maxrows 1 opaque font small width 1
  set yrange [*:hottest+0.25*(hottest-STATS_min)]
  plot data using ($1/per):9 skip 1 with lines lt 2 title "die", \
       for [i=1:memory] data using ($1/per):10 skip 1 with lines lt 5 title "memory", \
       data using ($1/per):11 skip 1 with lines lt 1 title "air"
}
unset multiplot
