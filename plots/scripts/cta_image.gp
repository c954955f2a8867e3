# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figure 8: IPC of every core over time, kernel MUM.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_image.gp     reads dir/image.csv, writes dir/image.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/image.svg"
wide = 10; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
unset grid
set ylabel "core"
set cblabel "IPC"
rows(p) = "<awk -F, '$1 == \"".p."\"' '".dir."/image.csv'"
# A cell of a row lasts until the core's next one.
cells(p) = rows(p)." | sort -t, -k3,3n -k2,2g | awk -F, -v OFS=, '$3 == c && NR > 1 { print t, $2, c, v } { t = $2; c = $3; v = $4 }'"
stats dir."/image.csv" using 2 skip 1 nooutput
set xrange [0:STATS_max]
stats dir."/image.csv" using 4 skip 1 nooutput
set cbrange [0:STATS_max] # one scale
set cbtics tics(STATS_max, 4)
stats dir."/image.csv" using 3 skip 1 nooutput
set yrange [-0.5:STATS_max+0.5]
policies = "all tcs tcs(throttling=false) htcs"
set multiplot layout 4,1
do for [k=1:4] {
    p = word(policies, k)
    set title p.(k == 1 ? ": every core works. IPC of each core, kernel MUM (paper 000, Figure 8)" : "")
    set xlabel (k == 4 ? "time (µs)" : "")
    plot cells(p) using ($1):3:1:(1.5*$2-0.5*$1):($3-0.5):($3+0.7):4 with boxxyerror fs solid 1 noborder fc palette notitle
}
unset multiplot
