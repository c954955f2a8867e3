# Grouped bars: first column the groups, one column a bar. Variables: data, out, title_text, y_text.
# Figures 3, 4, 5 and 6 of paper 003 are made with it.
if (!exists("title_text")) title_text = ""
if (!exists("n_bar")) n_bar = int(system("head -n 1 ".data." | tr -cd , | wc -c"))
set style data histogram
set style histogram clustered gap 1.2
set boxwidth 0.92 relative
set ylabel y_text
set xtics scale 0
set xzeroaxis lt -1
set title title_text
set yrange [*<0:0<*] # bars stand on 0
set offsets graph 0, 0, graph 0.04, 0
plot for [j=1:1] data using (0) with lines lc rgb "#444444" lw 1 notitle, \
     for [i=2:n_bar+1] data using i:xtic(1) title columnheader(i) lt (i-1)
