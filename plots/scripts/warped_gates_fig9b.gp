# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 9b: static energy saved, FP units (kernels with FP work).
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig9b.gp      reads dir/table.csv, writes dir/fig9b.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig9b.svg"
wide = 10; high = 4.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set ylabel "static energy saved, FP [%]"
set xtics rotate by -35
rows(policy) = "<awk -F, 'NR == 1 || ($2 == \"".policy."\" && $3 == 14 && $4 == 3 && $14 == \"all\")' '".dir."/table.csv'"
plot for [p in "convpg gates naive_blackout coordinated_blackout warped_gates"] \
     rows(p) using 6:xtic(1) every ::1 lc rgb colour(p) title p
