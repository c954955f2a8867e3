# SPDX-License-Identifier: GPL-3.0-or-later
# data: time_s, sm, power_w, kernel (0: none, 1 ... n_kernel, n_kernel + 1: shared), freq_mhz. Labels: the kernels' names, begin_s, end_s, title, x, y.
scripts = ARG0[1:strlen(ARG0)-strlen("sm_kernel.gp")]
load scripts."labels.gp"
load scripts."style.gp"
n_kernel = n_name
unset key
unset grid
longest = 6 # letters of "shared"
do for [k=1:n_kernel] { longest = strlen(name(k)) > longest ? strlen(name(k)) : longest }
set rmargin at screen 0.90-0.0105*room*longest
set title word_of("title")
set xlabel word_of("x")
set ylabel word_of("y")
set xrange [number_of("begin_s"):number_of("end_s")]
set autoscale yfix
set xtics tics(number_of("end_s") - number_of("begin_s"), size eq "small" ? 4 : 7)
kinds = "A DVFS MU MNU MA other1 other2 other3 other4 other5 other6 BL"
kind(k) = k <= words(kinds) ? colour(word(kinds, k)) : word("#332288 #661100 #117733 #000000", k - words(kinds))
steps = "0 '#ffffff', "
do for [k=1:n_kernel] { steps = steps.sprintf("%d '%s', ", k, kind(k)) }
eval sprintf("set palette maxcolors %d defined (%s%d '#d9d9d9')", n_kernel + 2, steps, n_kernel + 1)
set cbrange [-0.5:n_kernel+1.5]
set cbtics ("idle" 0, "shared" n_kernel+1)
do for [k=1:n_kernel] { set cbtics add (name(k) k) }
plot data using 1:2:4 skip 1 with image
