# Slowdown against energy; the points no other beats in both are joined.
# data: two blocks of name, slowdown_pct, energy_kj: all points, then those on the front by slowdown. Variable name_points: 1 writes names.
load "style.gp"
set xlabel "slowdown (%)"
set ylabel "energy (kJ)"
set xrange [0:*]
set offsets 0, graph 0.06, graph 0.08, graph 0.06
plot data index 1 using 2:3 with linespoints lt 6 lw 1 pt 6 ps 1.6 title "not beaten in both", \
     "" index 0 using 2:3 skip 1 with points lt 1 ps 0.8 title "all", \
     "" index 0 using 2:3:(name_points ? strcol(1) : "") skip 1 with labels offset 0,0.9 font small noenhanced notitle
