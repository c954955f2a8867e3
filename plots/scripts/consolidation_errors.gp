# Paper 004, Figures 3 to 5: predicted against measured times and powers.
# gnuplot -e "dir='out/consolidation'" plots/scripts/consolidation_errors.gp     reads dir/paper.csv, writes dir/errors.svg
if (!exists("dir")) dir = "."
set terminal svg size 1000,420 font "sans,11"
set output dir . "/errors.svg"
set datafile separator comma
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set xtics rotate by -35
set key outside top center horizontal
# a quoted field may hold a comma: keep the fields after the quotes
rows(what) = "<awk -F, '/".what."/ { gsub(/\"[^\"]*\"/, \"q\"); print $4 \",\" $6 \",\" $7 }' ".dir."/paper.csv"
set multiplot layout 1,2
set title "time of merged kernels (Figures 3 and 4)"
set ylabel "time [s]"
plot rows("block on an SM") using 2:xtic(1) title "measured", "" using 3 title "predicted"
set title "system power from event rates (Figure 5)"
set ylabel "power [W]"
set yrange [300:500]
plot rows("mean system power") using 2:xtic(1) title "measured", "" using 3 title "predicted"
unset multiplot
