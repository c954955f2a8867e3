# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figures 6 and 7: performance, energy and cores under the policies.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_policies.gp     reads dir/table.csv, writes dir/policies.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/policies.svg"
wide = 11; high = 9
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -35
rows(p) = "<awk -F, '$2 == \"".p."\"' '".dir."/table.csv'"
set multiplot layout 3,1
set ylabel "performance, change [%]"
plot for [p in "tcs htcs tcs(throttling=false) static_optimal"] rows(p) using 4:xtic(1) lc rgb colour(p) title p
set ylabel "energy, change [%]"
plot for [p in "tcs htcs tcs(throttling=false) static_optimal"] rows(p) using 5:xtic(1) lc rgb colour(p) title p
set ylabel "cores"
set yrange [0:*]
plot rows("tcs") using 3:xtic(1) title "tcs", "" using 8 title "static optimum"
unset multiplot
