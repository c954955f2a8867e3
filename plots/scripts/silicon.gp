# SPDX-License-Identifier: GPL-3.0-or-later
# data: series (1, 2, ...), x, y. Labels:
# title, x, y, name and line (1: a line) of each series.
scripts = ARG0[1:strlen(ARG0)-strlen("silicon.gp")]
load scripts."labels.gp"
load scripts."style.gp"
is_line = list_of("line")
set title word_of("title")
set xlabel word_of("x")
set ylabel word_of("y")
set key maxrows 2
drawn(i) = word(is_line, i) eq "1" ? "with lines lw 2.5" : "with points pt 7 ps 0.45"
curves = ""
do for [i=1:n_name] { curves = curves.sprintf("%sdata using ($1==%d?$2:NaN):3 skip 1 %s lc rgb colour(word(lines, %d)) title name(%d)", i > 1 ? ", " : "", i, drawn(i), i, i) }
eval "plot ".curves
