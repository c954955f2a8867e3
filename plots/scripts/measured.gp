# SPDX-License-Identifier: GPL-3.0-or-later
# data: gpu, time_s, power_w, measured_c, predicted_c[, what_if_c, low_c, high_c]. Labels: n_gpu, name of each, predicted, what_if.
scripts = ARG0[1:strlen(ARG0)-strlen("measured.gp")]
load scripts."labels.gp"
predicted = int(number_of("predicted")); n_gpu = int(number_of("n_gpu")); what_if = has("what_if")
high = predicted ? 7.2 : 5.0
load scripts."style.gp"
set multiplot layout (predicted ? 3 : 2),1
set lmargin 9
set key font small maxrows 2
set format x ""
set title "Measured power"
set ylabel "power (W)"
plot for [g=0:n_gpu-1] data using 2:($1==g ? $3 : NaN) with lines lc rgb series(g+1) dt dash(g+1) title "GPU ".name(g+1)
unset key
set ylabel "temperature (°C)"
set title (predicted ? "Temperature: measured (dots), predicted (lines)" : "Measured temperature")
if (predicted) {
  if (what_if) {
    set title "Temperature: measured (dots), predicted (lines), and with ".word_of("what_if")." (dashed)\nband: its 95 % interval"
    plot for [g=0:n_gpu-1] data using 2:($1==g ? $7 : NaN):8 with filledcurves fs transparent solid 0.25 noborder fc rgb series(g+1) notitle, \
         for [g=0:n_gpu-1] data using 2:($1==g ? $4 : NaN) with points lc rgb series(g+1) pt 7 ps 0.25 notitle, \
         for [g=0:n_gpu-1] data using 2:($1==g ? $5 : NaN) with lines lc rgb series(g+1) dt dash(g+1) notitle, \
         for [g=0:n_gpu-1] data using 2:($1==g ? $6 : NaN) with lines lc rgb series(g+1) dt 2 notitle
  } else {
  plot for [g=0:n_gpu-1] data using 2:($1==g ? $4 : NaN) with points lc rgb series(g+1) pt 7 ps 0.25 notitle, \
       for [g=0:n_gpu-1] data using 2:($1==g ? $5 : NaN) with lines lc rgb series(g+1) dt dash(g+1) notitle
  }
  set format x "%g"
  set xlabel "time (s)"
  set title "Predicted less measured"
  set ylabel "difference (K)"
  plot for [g=0:n_gpu-1] data using 2:($1==g ? $5-$4 : NaN) with lines lc rgb series(g+1) dt dash(g+1) notitle
} else {
  set format x "%g"
  set xlabel "time (s)"
  plot for [g=0:n_gpu-1] data using 2:($1==g ? $4 : NaN) with lines lc rgb series(g+1) dt dash(g+1) notitle
}
unset multiplot
