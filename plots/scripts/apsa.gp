# Paper 002, Figures 1, 3, 6 and 7: 30 cores, 60 cores and ApSA.
# gnuplot -e "dir='out/apsa'" plots/scripts/apsa.gp     reads dir/table.csv, writes dir/apsa.svg
if (!exists("dir")) dir = "."
set terminal svg size 1100,1100 font "sans,11" noenhanced
set output dir . "/apsa.svg"
set datafile separator comma
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set xtics rotate by -35
set key outside top center horizontal
rows(p) = "<awk -F, '$2 == \"".p."\"' ".dir."/table.csv"
set multiplot layout 4,1
set title "Figure 3: 30 cores"
set ylabel "share of the peak [%]"
set yrange [0:*]
plot rows("all_30") using 16:xtic(1) title "IPC", "" using 17 title "bandwidth"
set title "Figures 1 and 6: IPC (core cycles) over 30 cores"
set ylabel "change [%]"
set autoscale y
plot rows("all") using 12:xtic(1) title "60 cores", rows("apsa") using 12 title "ApSA"
set title "the same in wall-clock time"
plot rows("all") using 11:xtic(1) title "60 cores", rows("apsa") using 11 title "ApSA"
set title "Figure 7: mean power"
set ylabel "power [W]"
set yrange [0:*]
plot rows("all_30") using 19:xtic(1) title "30 cores", rows("all") using 19 title "60 cores", rows("apsa") using 19 title "ApSA"
unset multiplot
