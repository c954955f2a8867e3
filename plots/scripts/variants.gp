# SPDX-License-Identifier: GPL-3.0-or-later
# Bars go to the right, so that there is room for the variants' names, a line of the page each. data: variant, then a column a policy.
# Labels: the policies' names, n_group, has_bound with STEM_bound.csv (a variant's number, value: what no policy can pass).
scripts = ARG0[1:strlen(ARG0)-strlen("variants.gp")]
load scripts."labels.gp"
bound = stem."_bound.csv"
n_group = int(number_of("n_group"))
line = 0.11 * (n_name + 1) > 0.27 ? 0.11 * (n_name + 1) : 0.27 # inches: bars of a group, or its name
wide = 8; high = 0.9 + line * n_group + 0.3 * room * ceil((n_name + 1) / 4.0) # names above the page
load scripts."style.gp"
load scripts."paint.gp"
each = 1.0 / (n_name + 1)
place(i) = (i - 0.5 * (n_name + 1)) * each
set title "Slowdown by variant, mean over the mixes"
set xlabel "slowdown (%)"
set xrange [0:*]
set yrange [n_group-0.4:-0.6] # the first on top
set ytics scale 0 font small
set key font small maxcols 4
unset grid
set grid xtics lt 1 lc rgb "#d8d8d8" lw 0.6
bars = "for [i=1:n_name] data using (0):($0+place(i)):(0):(column(i+1)):($0+place(i)-0.46*each):($0+place(i)+0.46*each) skip 1 with boxxyerror lc rgb paint(i) fs pattern hatch(i) border lc rgb paint(i) title name(i)"
lines = "bound using 2:($1-0.46):(0):(0.92) skip 1 with vectors nohead lw 2 lc rgb \"#c00000\" title \"bound\""
groups = "data using (0):0:ytic(1) skip 1 with lines lc rgb \"#444444\" notitle"
eval "plot ".groups.", ".bars.(has("has_bound") ? ", ".lines : "")
