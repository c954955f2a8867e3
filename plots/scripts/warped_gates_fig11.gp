# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 11: sensitivity to break-even and wake-up time; means over the kernels.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig11.gp      reads dir/table.csv, writes dir/fig11.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig11.svg"
wide = 10; high = 7.6
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
# mean of a column over the kernels against column x (bet or wakeup), the other at its default
mean(policy, x, c) = "<awk -v where='policy=".policy.";fit=".fit.";".(x eq "bet" ? "wakeup=3" : "bet=14")."' -v show='".x.";".c."' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/table.csv' | sort -t, -n"
set key maxrows 2
set multiplot layout 2,2
set title "Energy against break-even time (paper 001, Figure 11)"
set yrange [0:*]
set xlabel "break-even time (cycles)"
set ylabel "static energy saved (%)"
plot for [p in "convpg warped_gates"] mean(p, "bet", "int_saved_pct") using 1:2 with linespoints lc rgb colour(p) dt 1 title p." INT", \
     for [p in "convpg warped_gates"] mean(p, "bet", "fp_saved_pct") using 1:2 with linespoints lc rgb colour(p) dt 2 title p." FP"
set title "Slowdown against break-even time"
set ylabel "slowdown (%)"
plot for [p in "convpg warped_gates"] mean(p, "bet", "slowdown_pct") using 1:2 with linespoints lc rgb colour(p) title p
set title "Energy against wake-up time"
set xlabel "wake-up time (cycles)"
set ylabel "static energy saved (%)"
plot for [p in "convpg warped_gates"] mean(p, "wakeup", "int_saved_pct") using 1:2 with linespoints lc rgb colour(p) dt 1 title p." INT", \
     for [p in "convpg warped_gates"] mean(p, "wakeup", "fp_saved_pct") using 1:2 with linespoints lc rgb colour(p) dt 2 title p." FP"
set title "Slowdown against wake-up time"
set ylabel "slowdown (%)"
plot for [p in "convpg warped_gates"] mean(p, "wakeup", "slowdown_pct") using 1:2 with linespoints lc rgb colour(p) title p
unset multiplot
