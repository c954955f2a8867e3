# Paper 001, Figure 10: slowdown.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig10.gp      reads dir/table.csv, writes dir/fig10.svg
if (!exists("dir")) dir = "."
set terminal svg size 1000,420 font "sans,11"
set output dir . "/fig10.svg"
set datafile separator comma
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "slowdown [%]"
set xtics rotate by -35
set key outside top center horizontal
set grid ytics
rows(policy) = "<awk -F, 'NR == 1 || ($2 == \"".policy."\" && $3 == 14 && $4 == 3 && $14 == \"all\")' ".dir."/table.csv"
plot for [p in "convpg gates naive_blackout coordinated_blackout warped_gates"] \
     rows(p) using 7:xtic(1) every ::1 title p noenhanced
