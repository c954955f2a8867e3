# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 002, Figures 1, 3, 6 and 7: 30 cores, 60 cores and ApSA.
# gnuplot -e "dir='out/apsa'" plots/scripts/apsa.gp     reads dir/table.csv, writes dir/apsa.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/apsa.svg"
wide = 11; high = 11
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -35
rows(p) = "<awk -F, '$2 == \"".p."\"' '".dir."/table.csv'"
set multiplot layout 4,1
set title "Figure 3: 30 cores"
set ylabel "share of the peak [%]"
set yrange [0:*]
plot rows("all_30") using 16:xtic(1) title "IPC", "" using 17 title "bandwidth"
set title "Figures 1 and 6: IPC (core cycles) over 30 cores"
set ylabel "change [%]"
set yrange [*<0:0<*]
plot rows("all") using 12:xtic(1) lc rgb colour("all") title "60 cores", rows("apsa") using 12 lc rgb colour("apsa") title "ApSA"
set title "the same in wall-clock time"
plot rows("all") using 11:xtic(1) lc rgb colour("all") title "60 cores", rows("apsa") using 11 lc rgb colour("apsa") title "ApSA"
set title "Figure 7: mean power"
set ylabel "power [W]"
set yrange [0:*]
plot rows("all_30") using 19:xtic(1) lc rgb colour("all_30") title "30 cores", rows("all") using 19 lc rgb colour("all") title "60 cores", rows("apsa") using 19 lc rgb colour("apsa") title "ApSA"
unset multiplot
