# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 3: how long hotspot's INT units stay idle, by scheme.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig3.gp      reads dir/table.csv, writes dir/fig3.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig3.svg"
wide = 6.4; high = 4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set style histogram rowstacked
set boxwidth 0.6
set yrange [0:100]
set ylabel "share of idle periods [%]"
set xtics rotate by -20
rows = "<awk -F, 'NR == 1 || ($1 == \"hotspot\" && $3 == 14 && $4 == 3 && $14 == \"all\" && $2 != \"none\")' '".dir."/table.csv'"
plot rows using 8:xtic(2) every ::1 title "wasted (shorter than idle detect)" lc rgb "#4477aa", \
     rows using 9 every ::1 title "uncompensated" lc rgb "#cc3311", \
     rows using 10 every ::1 title "compensated" lc rgb "#228833"
