# SPDX-License-Identifier: GPL-3.0-or-later
# Which kernel each SM runs over time: 1 the first of the two kernels that were mixed first, 0 the second,
# between them both; white where neither runs. data: time_s, sm, power_w, first_share_1, freq_mhz. Variables first_text, second_text.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
unset key
unset grid
set rmargin at screen 0.84
set xlabel "time (s)"
set ylabel "SM"
set autoscale xfix
set autoscale yfix
set palette defined (0 "#E69F00", 0.5 "#f2f2f2", 1 "#0072B2")
set cbrange [0:1]
set cbtics (second_text 0, "shared" 0.5, first_text 1)
plot data using 1:2:4 skip 1 with image
