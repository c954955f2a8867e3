# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 004, Figures 3 to 5: predicted against measured times and powers.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_errors.gp     reads dir/paper.csv, writes dir/errors.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/errors.svg"
wide = 8; high = 8.4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -30 scale 0 font small
rows(what) = "<awk -v where='quantity~".what."' -v show='case;paper_value;ours' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/paper.csv'"
set rmargin 10 # the last name goes beyond its bar
set multiplot layout 2,1
set title "Time of merged kernels (paper 004, Figures 3 and 4)"
set ylabel "time (s)"
plot rows("^time$;case~manual") using 2:xtic(1) lc rgb colour("cpu") title "paper", "" using 3 lc rgb colour("manual") title "ours"
set title "GPU power from event rates (paper 004, Figure 5)"
set ylabel "power (W)"
plot rows("^GPU power from event rates") using 2:xtic(1) lc rgb colour("cpu") title "paper", "" using 3 lc rgb colour("manual") title "ours"
unset multiplot
