# SPDX-License-Identifier: GPL-3.0-or-later
# Bars of kernels by policy and their mean, from dir/table.csv, with what the paper prints of the mean as marks. Variables
# policies (words), value (a column), y_text, title_text, where and over (of select.awk), paper_figure (of paper.csv; "": no
# marks), paper_quantity (a pattern), with_mean (0: the table has means of its own).
if (!exists("over")) over = ""
if (!exists("paper_figure")) paper_figure = ""
if (!exists("with_mean")) with_mean = 1
if (!exists("paper_quantity")) paper_quantity = "."
set yrange [*<0:0<*] # bars stand on 0
set offsets graph 0, 0, graph 0.05, 0
set xzeroaxis lt -1
set xtics rotate by -35 scale 0
set ylabel y_text
set title title_text
rows(p) = "<awk -v where='policy=".p.";".where."' -v over='".over."' -v show='kernel;".value."' -v mean=".with_mean." -f '".scripts."/select.awk' '".dir."/table.csv'"
printed(p) = system("awk -v where='figure=".paper_figure.";quantity~".paper_quantity.";paper_value~.;case~^(geometric )?(mean )?".p."(.? fit all)?$' -v show='figure;paper_value' -f '".scripts."/select.awk' '".dir."/paper.csv' 2>/dev/null | cut -d, -f2")
n_policy = words(policies)
each = 1.0 / (n_policy + 1.2)
place(i) = (i - 0.5 * (n_policy + 1)) * each
array mark[n_policy]
marked = 0
do for [i=1:n_policy] {
  text = paper_figure eq "" ? "" : printed(word(policies, i))
  mark[i] = NaN
  if (strlen(text) > 0) { mark[i] = real(text); marked = 1 }
}
stats rows(word(policies, 1)) using 2 nooutput
at_mean = STATS_records - 1
set boxwidth 0.92 * each absolute
set xrange [-0.7:at_mean+0.7]
plot rows(word(policies, 1)) using 0:(0):xtic(1) with lines lc rgb "#444444" notitle, \
     for [i=1:n_policy] rows(word(policies, i)) using ($0+place(i)):2 with boxes lc rgb colour(word(policies, i)) title word(policies, i), \
     for [i=1:n_policy] '+' using (at_mean+place(i)):(mark[i]) every ::0::0 with points pt 13 ps 1.0 lc rgb "#000000" notitle, \
     NaN with points pt 13 ps 1.0 lc rgb "#000000" title marked ? "paper (mean)" : ""
