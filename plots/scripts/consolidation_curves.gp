# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 004, Figures 1, 7 and 8: instances of encryption and sorting, in units of one instance on the CPU.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_curves.gp     reads dir/table.csv, writes dir/curves.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/curves.svg"
wide = 10; high = 7
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set key maxrows 1
set yrange [0:*]
set xlabel "instances"
rows(figure, setup, value) = "<awk -v where='table=".figure.";setup=".setup."' -v show='instances;".value."' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/table.csv'"
set multiplot layout 2,2
do for [f in "'Figure 1 and 7' 'Figure 8'"] {
    set title f eq "Figure 8" ? "Sorting (paper 004, Figure 8)" : "Encryption (paper 004, Figures 1 and 7)"
    set ylabel "time (one instance on the CPU)"
    plot for [s in "cpu manual serial"] rows(f, s, "time_s") using 1:2 with linespoints lc rgb colour(s) title s
    set ylabel "energy (W × that time)"
    plot for [s in "cpu manual serial"] rows(f, s, "energy_j") using 1:2 with linespoints lc rgb colour(s) title s
}
unset multiplot
