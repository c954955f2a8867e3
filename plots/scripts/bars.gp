# SPDX-License-Identifier: GPL-3.0-or-later
# Grouped bars: STEM.csv, or STEM_2.csv with part "_2": first column the groups, one column a bar, coloured by name. Variables: y_text;
# title_text may be absent. Labels: the bars' names, n_group; has_paper with STEM_paper.csv (group, bar, value: what the paper prints,
# drawn as marks), has_ci95 (so many seeds) with STEM_ci95.csv (group, bar, mean, half the interval), has_bound with STEM_bound.csv (group, value: what no policy can pass, a line across the group).
if (!exists("title_text")) title_text = ""
load scripts."labels.gp"
from = stem.part.".csv"
paper = stem.part."_paper.csv"
bound = stem.part."_bound.csv"
ci95 = stem.part."_ci95.csv"
n_bar = n_name
load scripts."paint.gp"
each = 1.0 / (n_bar + 1.2) # a group is one wide
place(i) = (i - 0.5 * (n_bar + 1)) * each
set boxwidth 0.92 * each absolute
set ylabel y_text
set xtics scale 0
set xzeroaxis lt -1
set title title_text.of_variant.(has("has_ci95") ? sprintf("\nlines: 95 %% interval of the mean, n = %d seeds", int(number_of("has_ci95"))) : "")
set yrange [*<0:0<*] # bars stand on 0
set offsets graph 0, 0, graph 0.04, 0
n_group = int(number_of("n_group"))
set xrange [-0.6:n_group-0.4]
if (n_group > 8) set xtics font small
letters = 0
stats from using (letters = strlen(strcol(1)) > letters ? strlen(strcol(1)) : letters, 1) skip 1 nooutput
set xtics norotate
if (letters * n_group * 0.095 * room > wide - 0.9) set xtics rotate by 30 right font small # long names would touch
bars = "for [i=1:n_bar] from using ($0+place(i)):(column(i+1)) skip 1 with boxes lc rgb paint(i) fs pattern hatch(i) border lc rgb paint(i) title name(i)"
groups = "from using 0:(0):xtic(1) skip 1 with lines lc rgb \"#444444\" notitle"
marks = "paper using ($1+place(int($2))):3 skip 1 with points pt 13 ps 1.4 lc rgb \"#ffffff\" notitle, \"\" using ($1+place(int($2))):3 skip 1 with points pt 13 ps 0.9 lc rgb \"#000000\" title \"paper\""
lines = "bound using ($1-0.46):2:(0.92):(0) skip 1 with vectors nohead lw 2 lc rgb \"#c00000\" title \"bound\""
spread = "ci95 using ($1+place(int($2))):($3-$4):(0):(2*$4) skip 1 with vectors heads size 0.02,90 lw 1.2 lc rgb \"#000000\" notitle"
eval "plot ".groups.", ".bars.(has("has_bound") ? ", ".lines : "").(has("has_ci95") ? ", ".spread : "").(has("has_paper") ? ", ".marks : "")
