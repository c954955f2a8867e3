# SPDX-License-Identifier: GPL-3.0-or-later
# data: the load, then for each policy ttft_p50_s, ttft_p99_s, tbt_p50_s, tbt_p99_s. Labels: the policies' names, unit (words of the load).
wide = 11; high = 6.2
scripts = ARG0[1:strlen(ARG0)-strlen("serve_load.gp")]
load scripts."labels.gp"
load scripts."style.gp"
load scripts."paint.gp"
stats data using 1 skip 1 nooutput
low = STATS_min; most = STATS_max
wide_range = low > 0 && most / low > 4
if (wide_range) set logscale x 2
set xrange [(wide_range ? low / 1.1 : low - 0.05*(most-low)):(wide_range ? most*1.1 : most + 0.05*(most-low))]
set xtics font small
if (n_label > 0) set xlabel word_of("unit") eq "/s" ? "requests (1/s)" : "load (".word_of("unit").")"
head = 0.90 - 0.04 * ceil(n_name / 2.0) # two columns of names
set multiplot layout 1,2 margins (size eq "small" ? 0.11 : 0.08),0.97,0.14,head spacing (size eq "small" ? 0.13 : 0.10),0.1
set key at screen 0.5,0.98 top center font small
set title "First token"
set ylabel "time (s)"
set yrange [0:*]
plot for [i=1:n_name] data using 1:(column(4*i-1)) skip 1 with linespoints lw 2 pt 7 ps 0.7 lc rgb paint(i) title name(i), \
     for [i=1:n_name] data using 1:(column(4*i-2)) skip 1 with lines lw 2 dt 2 lc rgb paint(i) notitle
unset key
set title "Between tokens"
set ylabel "time (ms)"
plot for [i=1:n_name] data using 1:(1000*column(4*i+1)) skip 1 with linespoints lw 2 pt 7 ps 0.7 lc rgb paint(i) notitle, \
     for [i=1:n_name] data using 1:(1000*column(4*i)) skip 1 with lines lw 2 dt 2 lc rgb paint(i) notitle
unset multiplot
