# Paper 001, Figure 3: how long hotspot's INT units stay idle, by scheme.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig3.gp      reads dir/table.csv, writes dir/fig3.svg
if (!exists("dir")) dir = "."
set terminal svg size 640,400 font "sans,11"
set output dir . "/fig3.svg"
set datafile separator comma
set style data histograms
set style histogram rowstacked
set style fill solid 0.8 border -1
set boxwidth 0.6
set yrange [0:100]
set ylabel "share of idle periods [%]"
set xtics rotate by -20
set key outside top center horizontal
rows = "<awk -F, 'NR == 1 || ($1 == \"hotspot\" && $3 == 14 && $4 == 3 && $14 == \"all\" && $2 != \"none\")' ".dir."/table.csv"
plot rows using 8:xtic(2) every ::1 title "wasted (shorter than idle detect)" lc rgb "#4477aa", \
     rows using 9 every ::1 title "uncompensated" lc rgb "#cc3311", \
     rows using 10 every ::1 title "compensated" lc rgb "#228833"
