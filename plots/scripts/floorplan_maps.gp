# SPDX-License-Identifier: GPL-3.0-or-later
# data: floorplan (its number from 1), unit, left_mm, right_mm, bottom_mm,
# top_mm, mean_temp_c. Labels: the floorplans' names.
scripts = ARG0[1:strlen(ARG0)-strlen("floorplan_maps.gp")]
load scripts."labels.gp"
n = n_name
n_column = n < 4 ? n : n < 9 ? int(ceil(n / 2.0)) : 4
n_row = int(ceil(1.0 * n / n_column))
wide = 1.1 + 3.2 * n_column
high = 0.7 + 3.3 * n_row
load scripts."style.gp"
stats data using 7 skip 1 nooutput
low_c = floor(STATS_min)
high_c = ceil(STATS_max)
mid_c = 0.5 * (low_c + high_c)
set cbrange [low_c:high_c]
unset key
unset grid
unset tics
set border 0
set size ratio -1
right = 1 - 1.0 / wide
top = 1 - 0.45 / high
set multiplot title "Mean temperature over time and mixes"
do for [i=1:n] {
  column_i = (i - 1) % n_column
  row_i = (i - 1) / n_column
  set lmargin at screen right * (column_i + 0.04) / n_column
  set rmargin at screen right * (column_i + 0.96) / n_column
  set tmargin at screen top * (1 - (row_i + 0.10) / n_row)
  set bmargin at screen top * (1 - (row_i + 0.98) / n_row)
  stats data using ($1 == i ? $7 : NaN) skip 1 nooutput
  set title sprintf("%s: %.1f to %.1f °C", name(i), STATS_min, STATS_max) offset 0,-0.5 font small
  hottest_c = STATS_max
  if (i == n) {
    set colorbox user origin screen right + 0.1 / wide, screen 0.15 size screen 0.15 / wide, screen 0.65
    set cbtics font small
    set cblabel "°C" rotate by 0 offset -1,0
  } else { unset colorbox }
  plot data using ($1 == i ? ($3+$4)/2 : NaN):(($5+$6)/2):3:4:5:6:7 skip 1 with boxxyerror lc palette fs solid 1 border lc rgb "#222222", \
       data using ($1 == i && $7 == hottest_c ? ($3+$4)/2 : NaN):(($5+$6)/2):3:4:5:6 skip 1 with boxxyerror fs empty border lc rgb "#e00000" lw 2, \
       data using ($1 == i ? ($3+$4)/2 : NaN):(($5+$6)/2):(strlen(strcol(2))*0.8*letter/canvas < ($4-$3) && $6-$5 > 1.2 ? strcol(2) : ""):($7 < mid_c ? 0xffffff : 0x000000) skip 1 with labels font small tc rgb variable
}
unset multiplot
