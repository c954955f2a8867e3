# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 11: sensitivity to break-even and wake-up time; means over the kernels.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig11.gp      reads dir/table.csv, writes dir/fig11.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig11.svg"
wide = 10; high = 7.6
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
# mean of column c over the kernels against column x (3: break-even, 4: wake-up), the other at its default
mean(policy, x, c) = "<awk -F, -v p=".policy." -v x=".x." -v c=".c." '$2 == p && $14 == \"all\" && $c != \"\" " . \
    "&& (x == 3 ? $4 == 3 : $3 == 14) { s[$x] += $c; n[$x]++ } " . \
    "END { for (v in s) print v \",\" s[v] / n[v] }' ".dir."/table.csv | sort -t, -n"
set multiplot layout 2,2
set xlabel "break-even time [cycles]"
set ylabel "static energy saved [%]"
plot for [p in "convpg warped_gates"] mean(p, "3", "5") using 1:2 with linespoints lc rgb colour(p) dt 1 title p." INT", \
     for [p in "convpg warped_gates"] mean(p, "3", "6") using 1:2 with linespoints lc rgb colour(p) dt 2 title p." FP"
set ylabel "slowdown [%]"
plot for [p in "convpg warped_gates"] mean(p, "3", "7") using 1:2 with linespoints lc rgb colour(p) title p
set xlabel "wake-up time [cycles]"
set ylabel "static energy saved [%]"
plot for [p in "convpg warped_gates"] mean(p, "4", "5") using 1:2 with linespoints lc rgb colour(p) dt 1 title p." INT", \
     for [p in "convpg warped_gates"] mean(p, "4", "6") using 1:2 with linespoints lc rgb colour(p) dt 2 title p." FP"
set ylabel "slowdown [%]"
plot for [p in "convpg warped_gates"] mean(p, "4", "7") using 1:2 with linespoints lc rgb colour(p) title p
unset multiplot
