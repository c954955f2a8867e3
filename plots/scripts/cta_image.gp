# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 10
scripts = ARG0[1:strlen(ARG0)-strlen("cta_image.gp")]
load scripts."labels.gp"
load scripts."style.gp"
unset grid
set ylabel "core"
set cblabel "IPC"
# data: policy (its number from 1), core, from_us, to_us, ipc; a cell lasts until the core's next one. Labels: the policies.
stats data using 4 skip 1 nooutput
set xrange [0:STATS_max]
stats data using 5 skip 1 nooutput
set cbrange [0:STATS_max] # one scale
set cbtics tics(STATS_max, 4)
stats data using 2 skip 1 nooutput
set yrange [-0.5:STATS_max+0.5]
set multiplot layout 4,1
do for [k=1:4] {
    set title name(k).(k == 1 ? ": every core works. IPC of each core, kernel MUM (paper 000, Figure 8)" : "")
    set xlabel (k == 4 ? "time (µs)" : "")
    plot data using ($1 == k ? $3 : NaN):2:3:(1.5*$4-0.5*$3):($2-0.5):($2+0.7):5 skip 1 with boxxyerror fs solid 1 noborder fc palette notitle
}
unset multiplot
