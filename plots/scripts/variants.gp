# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown, mean over the mixes, of every variant of a suite under every policy: bars to the right, so that there is room for the
# variants' names, a line of the page each. data: variant, then a column a policy. Variable bound (a CSV of variant's number, value: what
# no policy can pass) may be absent.
if (!exists("bound")) bound = ""
n_name = int(system("head -n 1 '".data."' | tr -cd , | wc -c"))
array heads[n_name]
do for [i=1:n_name] { heads[i] = system("head -n 1 '".data."' | cut -d, -f".(i+1)) }
name(i) = heads[i]
n_group = int(system("sed 1d '".data."' | wc -l"))
line = 0.11 * (n_name + 1) > 0.27 ? 0.11 * (n_name + 1) : 0.27 # inches: bars of a group, or its name
wide = 8; high = 0.9 + line * n_group
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/paint.gp"
each = 1.0 / (n_name + 1)
place(i) = (i - 0.5 * (n_name + 1)) * each
set title "Slowdown by variant, mean over the mixes"
set xlabel "slowdown (%)"
set xrange [0:*]
set yrange [n_group-0.4:-0.6] # the first on top
set ytics scale 0 font small
set key outside right center vertical maxcols 1 spacing 1.4
unset grid
set grid xtics lt 1 lc rgb "#d8d8d8" lw 0.6
bars = "for [i=1:n_name] data using (0):($0+place(i)):(0):(column(i+1)):($0+place(i)-0.46*each):($0+place(i)+0.46*each) skip 1 with boxxyerror lc rgb paint(i) title name(i)"
lines = "bound using 2:($1-0.46):(0):(0.92) skip 1 with vectors nohead lw 2 lc rgb \"#c00000\" title \"bound\""
names = "data using (0):0:ytic(1) skip 1 with lines lc rgb \"#444444\" notitle"
eval "plot ".names.", ".bars.(bound eq "" ? "" : ", ".lines)
