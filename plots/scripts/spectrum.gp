# SPDX-License-Identifier: GPL-3.0-or-later
# Spectrum of the boards' power and of what the feed sees. data: hz, boards_w, feed_w (root mean square in a bin). The band from 0.1 to 20 Hz
# is grey.
scripts = ARG0[1:strlen(ARG0)-strlen("spectrum.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set title "Spectrum of the power; grey: 0.1 to 20 Hz"
set logscale xy
set xlabel "frequency (Hz)"
# under a high floor boards draw steadily, feeds do not
stats data using (column(2) > column(3) ? column(2) : column(3)) skip 1 nooutput
kilo = STATS_max > 9999 ? 1000.0 : 1.0
top = 2 * STATS_max / kilo
set ylabel kilo > 1 ? "rms in a bin (kW)" : "rms in a bin (W)"
set yrange [top*1e-4:top]
set format xy "%g"
set xrange [0.04:60]
set object 1 rectangle from first 0.1, graph 0 to first 20, graph 1 fc rgb "#eeeeee" fs solid noborder behind
plot data using 1:($2/kilo) skip 1 with lines lt 1 title "boards", \
     data using 1:($3/kilo) skip 1 with lines lt 2 title "feed"
