# SPDX-License-Identifier: GPL-3.0-or-later
# A day of users (suite consolidation_day): throughput, energy, peak temperature and waiting time by policy and number of GPUs.
# gnuplot -e "dir='out/day'" plots/scripts/consolidation_day.gp     reads dir/table.csv, writes dir/day.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/day.svg"
wide = 11; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [0:*]
set style histogram clustered gap 1
set xtics rotate by 25 right scale 0 font small
rows(gpus) = "<awk -F, '$1 == ".gpus."' '".dir."/table.csv'"
set multiplot layout 2,2 margins 0.09,0.97,0.15,0.87 spacing 0.12,0.24 title "A day of Poisson arrivals from 100 users"
set key at screen 0.5,0.945 top center # of all four
set title "Jobs done"
set ylabel "instances per hour"
plot for [g in "1 4"] rows(g) using 5:xtic(2) title g.(g eq "1" ? " GPU" : " GPUs")
unset key
set title "Energy of the system"
set ylabel "kJ per instance"
plot for [g in "1 4"] rows(g) using ($8 / 1000):xtic(2) title g.(g eq "1" ? " GPU" : " GPUs")
set title "Hottest SM"
set ylabel "peak temperature (°C)"
plot for [g in "1 4"] rows(g) using 9:xtic(2) title g.(g eq "1" ? " GPU" : " GPUs")
set title "Wait of an instance"
set ylabel "mean wait (s)"
plot for [g in "1 4"] rows(g) using 10:xtic(2) title g.(g eq "1" ? " GPU" : " GPUs")
unset multiplot
