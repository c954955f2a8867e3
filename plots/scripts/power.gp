# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, power_w,
# change_w since the row before. Labels: row_s.
high = 5.2
scripts = ARG0[1:strlen(ARG0)-strlen("power.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set multiplot
set lmargin at screen (size eq "small" ? 0.25 : 0.15)
set rmargin at screen 0.95
set tmargin at screen 0.93
set bmargin at screen 0.61
set title "Power of all GPUs" offset 0,-0.5
stats data using 1 skip 1 nooutput
set xrange [STATS_min:STATS_max]
set xtics tics(STATS_max - STATS_min, size eq "small" ? 4 : 7)
set xlabel "time (s)"
stats data using 2 skip 1 nooutput
kilo = STATS_max > 9999 ? 1000.0 : 1.0
set ylabel kilo > 1 ? "power (kW)" : "power (W)"
set yrange [0:STATS_max*1.2/kilo]
set ytics tics(STATS_max / kilo, 4)
unset key
plot data using 1:($2/kilo) skip 1 with lines lt 1
set tmargin at screen 0.37
set bmargin at screen (size eq "small" ? 0.19 : 0.16)
set title sprintf("Changes of it within %g s", number_of("row_s")) offset 0,-0.5
set xrange [*:*]
set yrange [*:*] # stats keeps to them
stats data using 3 skip 1 nooutput
wide = STATS_max > STATS_min ? (STATS_max - STATS_min) / 40 : 1
set xrange [STATS_min-wide:STATS_max+wide]
set xtics tics(40 * wide, size eq "small" ? 4 : 7)
set xlabel "change of the power (W)"
set ylabel "rows"
set logscale y
set yrange [0.5:*]
set ytics auto
set boxwidth wide * 0.9
plot data using (wide*floor($3/wide+0.5)):(1) skip 1 smooth frequency with boxes lt 1 fs solid 0.6 notitle
unset multiplot
