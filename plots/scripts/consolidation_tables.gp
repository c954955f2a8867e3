# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 004, Tables 5 to 8: time and energy of the mixes on the CPU, merged by hand and by the framework, and serial.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_tables.gp     reads dir/table.csv, writes dir/tables.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/tables.svg"
wide = 10; high = 5
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set logscale y # points: bars have no foot there
set offsets 0.5, 0.5, 0, 0
set xtics rotate by -35
set key maxrows 1
rows(setup, value) = "<awk -v where='table~^Table [57]$;setup=".setup."' -v show='case;".value."' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/table.csv'"
set multiplot layout 1,2
set title "Time of the mixes (paper 004, Tables 5 and 7)"
set ylabel "time (s)"
plot for [s in "cpu manual dynamic serial"] rows(s, "time_s") using 0:2:xtic(1) with points pt 7 ps 0.9 lc rgb colour(s) title s, \
     for [s in "cpu manual dynamic serial"] rows(s, "paper_time_s") using 0:2 with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" notitle, \
     NaN with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" title "paper"
set format y "%.0f"
set title "Energy of the mixes (paper 004, Tables 6 and 8)"
set ylabel "energy (J)"
plot for [s in "cpu manual dynamic serial"] rows(s, "energy_j") using 0:2:xtic(1) with points pt 7 ps 0.9 lc rgb colour(s) title s, \
     for [s in "cpu manual dynamic serial"] rows(s, "paper_energy_j") using 0:2 with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" notitle, \
     NaN with points pt 1 ps 1.2 lw 0.8 lc rgb "#000000" title "paper"
unset multiplot
