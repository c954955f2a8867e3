# Paper 000, Figure 8: IPC of every core over time.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_image.gp     reads dir/image.csv, writes dir/image.svg
if (!exists("dir")) dir = "."
set terminal svg size 1000,1000 font "sans,11"
set output dir . "/image.svg"
set datafile separator comma
set palette defined (0 "white", 0.3 "light-blue", 1 "dark-blue")
set xlabel "time [us]"
set ylabel "core"
set cblabel "IPC"
set yrange [-0.5:27.5]
rows(p) = "<awk -F, '$1 == \"".p."\"' ".dir."/image.csv"
set multiplot layout 4,1
do for [p in "all tcs tcs(throttling=false) htcs"] {
    set title p
    plot rows(p) using 2:3:4 with points pointtype 5 pointsize 0.45 palette notitle
}
unset multiplot
