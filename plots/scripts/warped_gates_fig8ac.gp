# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figures 8a and 8c: idle cycles relative to the two-level scheduler, wake-ups relative to ConvPG; INT.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig8ac.gp      reads dir/table.csv, writes dir/fig8ac.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig8ac.svg"
wide = 10; high = 7.6
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set style data histograms
set yrange [*<0:0<*] # bars stand on 0
set xtics rotate by -35
# every row with its column c divided by the same kernel's under policy `base`
ratio(policy, base, c) = "<awk -F, -v p=".policy." -v b=".base." -v c=".c." '$3 == 14 && $4 == 3 && $14 == \"all\" " . \
    "{ if ($2 == b) d[$1] = $c; if ($2 == p) { n[$1] = $c; k[++m] = $1 } } " . \
    "END { for (i = 1; i <= m; i++) print k[i] \",\" (d[k[i]] > 0 ? n[k[i]] / d[k[i]] : 0) }' ".dir."/table.csv"
set multiplot layout 2,1
set ylabel "idle cycles / two-level scheduler"
plot for [p in "gates coordinated_blackout warped_gates"] ratio(p, "none", "16") using 2:xtic(1) lc rgb colour(p) title p
set ylabel "wake-ups / ConvPG"
plot for [p in "gates coordinated_blackout warped_gates"] ratio(p, "convpg", "15") using 2:xtic(1) lc rgb colour(p) title p
unset multiplot
