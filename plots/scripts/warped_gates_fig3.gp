# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 3: how long hotspot's INT units stay idle, by scheme.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig3.gp      reads dir/table.csv, writes dir/fig3.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig3.svg"
wide = 8; high = 4.4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
set style data histograms
set style histogram rowstacked
set boxwidth 0.6
set yrange [0:100]
set ylabel "share of idle periods (%)"
set title "Idle periods of hotspot's INT units (paper 001, Figure 3)"
set key maxrows 1 width -4
set xtics rotate by 20 right font small
rows = "<awk -v where='kernel=hotspot;bet=14;wakeup=3;fit=".fit.";policy~[^e]$|convpg' -v show='policy;idle_wasted_pct;idle_uncompensated_pct;idle_compensated_pct' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/table.csv' | grep -v '^none,'"
# what the paper prints, where the parts end: wasted, wasted + uncompensated
part(p, q) = system("awk -v where='figure=Figure 3;quantity=idle periods, ".q.";paper_value~.;case~^hotspot,? ".p."(.? fit all)?$' -v show='figure;paper_value' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/paper.csv' 2>/dev/null | cut -d, -f2")
schemes = system("awk -v where='kernel=hotspot;bet=14;wakeup=3;fit=".fit."' -v show='policy;idle_wasted_pct' -f '".scripts."/csv.awk' -f '".scripts."/select.awk' '".dir."/table.csv' | grep -v '^none,' | cut -d, -f1 | tr '\n' ' '")
array wasted[words(schemes)+1] # none of them: a table that was stopped
array done[words(schemes)+1]
do for [i=1:words(schemes)] {
  w = part(word(schemes, i), "wasted")
  u = part(word(schemes, i), "uncompensated")
  wasted[i] = w eq "" ? NaN : real(w)
  done[i] = w eq "" || u eq "" ? NaN : real(w) + real(u)
}
plot rows using 2:xtic(1) title "wasted (shorter than idle detect)" lc rgb colour("gates"), \
     rows using 3 title "uncompensated" lc rgb colour("warped_gates"), \
     rows using 4 title "compensated" lc rgb colour("naive_blackout"), \
     for [i=1:words(schemes)] '+' using (i-1):(wasted[i]) every ::0::0 with points pt 13 ps 1.5 lc rgb "#000000" notitle, \
     for [i=1:words(schemes)] '+' using (i-1):(done[i]) every ::0::0 with points pt 13 ps 1.5 lc rgb "#000000" notitle, \
     NaN with points pt 13 ps 1.4 lc rgb "#000000" title "paper"
