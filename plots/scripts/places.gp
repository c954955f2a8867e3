# SPDX-License-Identifier: GPL-3.0-or-later
# data: gpu, peak_temp_c, peak_memory_c, mean_inlet_c. Labels: memory (0: it has no sensor).
scripts = ARG0[1:strlen(ARG0)-strlen("places.gp")]
load scripts."labels.gp"
load scripts."style.gp"
stats data using 1 skip 1 nooutput
last = STATS_max
size_of = last > 100 ? 0.35 : last > 20 ? 0.6 : 1.1
set title "Hottest by place"
set xlabel "GPU, in the order of the topology"
set ylabel "temperature (°C)"
set xrange [-0.5:last+0.5]
every_n = last < 20 ? 1 : tics(last, 8)
set xtics every_n
memory = number_of("memory") > 0
set yrange [*:*]
set offsets 0, 0, graph 0.05, graph 0.05
plot data using 1:2 skip 1 with points lt 2 ps size_of title "die, peak", \
     for [i=1:memory] data using 1:3 skip 1 with points lt 5 ps size_of title "memory, peak", \
     data using 1:4 skip 1 with points lt 1 pt 2 ps size_of title "air, mean"
