# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 004, Figures 3 to 5: predicted against measured times and powers.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_errors.gp     reads dir/paper.csv, writes dir/errors.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/errors.svg"
wide = 10; high = 4.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -35
# a quoted field may hold a comma: keep the fields after the quotes
rows(what) = "<awk -F, '/".what."/ { gsub(/\"[^\"]*\"/, \"q\"); print $4 \",\" $6 \",\" $7 }' '".dir."/paper.csv'"
set multiplot layout 1,2
set title "time of merged kernels (Figures 3 and 4)"
set ylabel "time [s]"
plot rows("block on an SM") using 2:xtic(1) title "measured", "" using 3 title "predicted"
set title "system power from event rates (Figure 5)"
set ylabel "power [W]"
plot rows("mean system power") using 2:xtic(1) title "measured", "" using 3 title "predicted"
unset multiplot
