# SPDX-License-Identifier: GPL-3.0-or-later
# Bars of kernels by policy and their mean, from dir/table.csv, with what the paper prints as marks. Variables: policies (words), value
# (a column), y_text, title_text, where and over (of select.awk), with_mean (0: the table has means of its own), mean_by (a column: means
# of its values, too), paper_figure (a pattern; "": no marks), paper_quantity (a pattern), paper_names (of the policies in paper.csv).
if (!exists("over")) over = ""
if (!exists("paper_figure")) paper_figure = ""
if (!exists("with_mean")) with_mean = 1
if (!exists("mean_by")) mean_by = ""
if (!exists("paper_quantity")) paper_quantity = "."
if (!exists("paper_names")) paper_names = ""
set yrange [*<0:0<*] # bars stand on 0
set offsets graph 0, 0, graph 0.05, 0
set xzeroaxis lt -1
set xtics rotate by -35 scale 0
set ylabel y_text
set title title_text
awk = "awk -f '".scripts."/csv.awk' -f '".scripts."/"
rows(p) = awk."select.awk' -v where='policy=".p.";".where."' -v over='".over."' -v show='kernel;".value."' -v mean=".with_mean." -v by='".mean_by."' '".dir."/table.csv'"
marks = rows(word(policies, 1))." | ".awk."marks.awk' -v policies='".policies."' -v names='".(paper_names eq "" ? policies : paper_names)."' -v figure='".paper_figure."' -v quantity='".paper_quantity."' - '".dir."/paper.csv' 2>/dev/null"
marked = paper_figure eq "" ? 0 : int(system(marks." | wc -l"))
n_policy = words(policies)
each = 1.0 / (n_policy + 1.2)
place(i) = (i - 0.5 * (n_policy + 1)) * each
n_row = int(system(rows(word(policies, 1))." | wc -l"))
set boxwidth 0.92 * each absolute
set xrange [-0.7:n_row-0.3]
bars = "'<'.rows(word(policies, 1)) using 0:(0):xtic(1) with lines lc rgb '#444444' notitle, for [i=1:n_policy] '<'.rows(word(policies, i)) using ($0+place(i)):2 with boxes lc rgb colour(word(policies, i)) title word(policies, i)"
points = "'<'.marks using ($1+place(int($2))):3 with points pt 13 ps 1.2 lc rgb '#ffffff' notitle, '' using ($1+place(int($2))):3 with points pt 13 ps 0.75 lc rgb '#000000' title 'paper'"
eval "plot ".bars.(marked > 0 ? ", ".points : "")
