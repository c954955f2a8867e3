# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 10: slowdown.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig10.gp      reads dir/table.csv, writes dir/fig10.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig10.svg"
wide = 10; high = 4.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set ylabel "slowdown [%]"
set xtics rotate by -35
rows(policy) = "<awk -F, 'NR == 1 || ($2 == \"".policy."\" && $3 == 14 && $4 == 3 && $14 == \"all\")' '".dir."/table.csv'"
plot for [p in "convpg gates naive_blackout coordinated_blackout warped_gates"] \
     rows(p) using 7:xtic(1) every ::1 lc rgb colour(p) title p
