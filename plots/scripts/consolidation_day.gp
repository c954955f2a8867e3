# SPDX-License-Identifier: GPL-3.0-or-later
wide = 11; high = 10
scripts = ARG0[1:strlen(ARG0)-strlen("consolidation_day.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set style data histograms
set yrange [0:*]
set style histogram clustered gap 1
set xtics rotate by 25 right scale 0 font small
# data: policy, then for 1 and 4 GPUs: jobs, energy, temperature, wait
gpus(g) = name(g).(g == 1 ? " GPU" : " GPUs")
set multiplot layout 2,2 margins 0.09,0.97,0.15,0.87 spacing 0.12,0.24 title "A day of Poisson arrivals from 100 users"
set key at screen 0.5,0.945 top center # of all four
set title "Jobs done"
set ylabel "instances per hour"
plot for [g=1:2] data using (column(g+1)):xtic(1) skip 1 title gpus(g)
unset key
set title "Energy of the system"
set ylabel "kJ per instance"
plot for [g=1:2] data using (column(g+3) / 1000):xtic(1) skip 1 title gpus(g)
set title "Hottest SM"
set ylabel "peak temperature (°C)"
plot for [g=1:2] data using (column(g+5)):xtic(1) skip 1 title gpus(g)
set title "Wait of an instance"
set ylabel "mean wait (s)"
plot for [g=1:2] data using (column(g+7)):xtic(1) skip 1 title gpus(g)
unset multiplot
