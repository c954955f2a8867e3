# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 004, Tables 5 to 8: time and energy of the mixes on the CPU, merged by hand and by the framework, and serial.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_tables.gp     reads dir/table.csv, writes dir/tables.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/tables.svg"
wide = 10; high = 4.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set logscale y # points: bars have no foot there
set offsets 0.5, 0.5, 0, 0
set xtics rotate by -35
rows(setup) = "<awk -F, '($1 == \"Table 5\" || $1 == \"Table 7\") && $3 == \"".setup."\"' '".dir."/table.csv'"
set multiplot layout 1,2
set ylabel "time [s]"
plot for [s in "cpu manual dynamic serial"] rows(s) using 0:5:xtic(2) with points pt 7 ps 1.2 lc rgb colour(s) title s
set ylabel "energy [J]"
plot for [s in "cpu manual dynamic serial"] rows(s) using 0:7:xtic(2) with points pt 7 ps 1.2 lc rgb colour(s) title s
unset multiplot
