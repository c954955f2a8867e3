# SPDX-License-Identifier: GPL-3.0-or-later
wide = 8; high = 4.4
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig3.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set style data histograms
set style histogram rowstacked
set boxwidth 0.6
set yrange [0:100]
set ylabel "share of idle periods (%)"
set title "Idle periods of hotspot's INT units (paper 001, Figure 3)"
set key maxrows 1 width -4
set xtics rotate by 20 right font small
# data: scheme, the three shares. What the paper prints: STEM_wasted.csv, STEM_uncompensated.csv of case ("hotspot convpg"), value
n_group = int(number_of("n_group"))
array scheme[n_group+1] # none of them: a table that was stopped
array wasted[n_group+1]
array rest[n_group+1]
at = 0
if (n_group > 0) stats data using (at = at + 1, scheme[at] = strcol(1), wasted[at] = NaN, rest[at] = NaN, 1) skip 1 nooutput
of(case, i) = strstrt(case, "hotspot") == 1 && strstrt(case." ", " ".scheme[i]." ") > 0
part = "_wasted"
load scripts."labels.gp"
if (number_of("n_group") > 0) stats stem."_wasted.csv" using (sum [i=1:n_group] (of(strcol(1), i) ? (wasted[i] = $2, 1) : 0)) skip 1 nooutput
part = "_uncompensated"
load scripts."labels.gp"
if (number_of("n_group") > 0) stats stem."_uncompensated.csv" using (sum [i=1:n_group] (of(strcol(1), i) ? (rest[i] = $2, 1) : 0)) skip 1 nooutput
plot data using 2:xtic(1) skip 1 title "wasted (shorter than idle detect)" lc rgb colour("gates"), \
     "" using 3 skip 1 title "uncompensated" lc rgb colour("warped_gates"), \
     "" using 4 skip 1 title "compensated" lc rgb colour("naive_blackout"), \
     for [i=1:n_group] '+' using (i-1):(wasted[i]) every ::0::0 with points pt 13 ps 1.5 lc rgb "#000000" notitle, \
     for [i=1:n_group] '+' using (i-1):(wasted[i] + rest[i]) every ::0::0 with points pt 13 ps 1.5 lc rgb "#000000" notitle, \
     NaN with points pt 13 ps 1.4 lc rgb "#000000" title "paper"
