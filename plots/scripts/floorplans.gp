# SPDX-License-Identifier: GPL-3.0-or-later
# data: floorplan, peak_temp_c, gradient_c, slowdown_pct, energy_kj.
high = 5.6
scripts = ARG0[1:strlen(ARG0)-strlen("floorplans.gp")]
load scripts."labels.gp"
load scripts."style.gp"
unset key
set multiplot layout 2,2 margins (size eq "small" ? 0.18 : 0.13),0.98,(size eq "small" ? 0.16 : 0.12),0.96 spacing (size eq "small" ? 0.2 : 0.14),(size eq "small" ? 0.2 : 0.16)
set style data boxes
set ytics font small
set boxwidth 0.62
set offsets 0.5, 0.5, 0, 0
set xtics rotate by -22 noenhanced font small
array y_text[4] = ["hottest SM (°C)", "difference on the die (K)", "slowdown, mean (%)", "energy, mean (kJ)"]
do for [i=1:4] {
  set autoscale y
  stats data using (column(i+1)) skip 1 nooutput
  spread = STATS_max - STATS_min
  # bars stand on 0; temperatures have none: points
  if (i == 1) { set yrange [STATS_min-0.5*spread-0.1:STATS_max+0.35*spread+0.1] } else { set yrange [0:1.25*STATS_max+1e-9] }
  set ylabel y_text[i] font small
  set ytics tics(i == 1 ? 2 * spread + 0.2 : 1.25 * STATS_max, size eq "small" ? 4 : 7)
  if (i == 1) {
    plot data using 0:(column(i+1)):xtic(1) skip 1 with points pt 7 ps 1.6 lt i, \
         "" using 0:(column(i+1)):(sprintf(size eq "small" ? "%.3g" : "%.2f", column(i+1))) skip 1 with labels offset 0,0.9 font small
  } else {
    plot data using 0:(column(i+1)):xtic(1) skip 1 lt i, \
         "" using 0:(column(i+1)):(sprintf(size eq "small" ? "%.3g" : "%.2f", column(i+1))) skip 1 with labels offset 0,0.7 font small
  }
}
unset multiplot
