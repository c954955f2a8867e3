# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figure 8: IPC of every core over time.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_image.gp     reads dir/image.csv, writes dir/image.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/image.svg"
wide = 10; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
unset grid
set xlabel "time (µs)"
set ylabel "core"
set cblabel "IPC"
set yrange [-0.5:27.5]
rows(p) = "<awk -F, '$1 == \"".p."\"' '".dir."/image.csv'"
set multiplot layout 4,1
do for [p in "all tcs tcs(throttling=false) htcs"] {
    set title p
    plot rows(p) using 2:3:4 with points pointtype 5 pointsize 0.45 palette notitle
}
unset multiplot
