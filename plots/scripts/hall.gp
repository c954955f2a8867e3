# SPDX-License-Identifier: GPL-3.0-or-later
# data: gpu, x, y, peak_temp_c, mean_inlet_c, slowed_s.
# Labels: the racks' names, rack_x (left edges in GPUs).
scripts = ARG0[1:strlen(ARG0)-strlen("hall.gp")]
load scripts."labels.gp"
stats data using 2 skip 1 nooutput
n_x = STATS_max + 1
stats data using 3 skip 1 nooutput
n_y = STATS_max + 1
wide = 10
stats data using 6 skip 1 nooutput
n_panel = STATS_max > 0 ? 3 : 2
panel = 0.9 + 8.6 * n_y / n_x # inches: title, map, names of racks
if (panel > 4) panel = 4
high = n_panel * panel
load scripts."style.gp"
unset key
unset grid
unset tics
set cbtics font small
set border 0
set xrange [-0.5:n_x-0.5] noextend
set yrange [-0.5:n_y-0.5] noextend
at = list_of("rack_x")
if (n_name > 0) { do for [i=1:n_name] { set label i name(i) at real(word(at, i)) - 0.4, -0.5 offset 0,-0.7 font small } }
title_of(i) = word("hottest_(°C) inlet_air_(°C) slowed_or_stopped_(s)", i)
nice(s) = (n = strstrt(s, "_"), n ? s[1:n-1]." ".s[n+1:strlen(s)] : s)
set multiplot
do for [i=1:n_panel] {
  stats [*:*][*:*] data using i+3 skip 1 nooutput
  low = STATS_min; top_v = STATS_max > STATS_min ? STATS_max : STATS_min + 1
  set cbrange [low:top_v]
  set cbtics tics(top_v - low, 3)
  set lmargin at screen 0.03
  set rmargin at screen 0.88
  set tmargin at screen 1 - (i - 1 + 0.40 / panel) / n_panel
  set bmargin at screen 1 - (i - 0.38 / panel) / n_panel
  set title nice(nice(nice(title_of(i)))).sprintf(": %.1f to %.1f", STATS_min, STATS_max) offset 0,-0.5
  plot data using 2:3:($2-0.46):($2+0.46):($3-0.46):($3+0.46):i+3 skip 1 with boxxyerror lc palette fs solid 1 border lc rgb "#222222"
}
unset multiplot
