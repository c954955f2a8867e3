# A metric against one axis of a study: the mean over the other axes, and their spread.
# data: value, mean, min, max (numbers) or text values. Variables x_text, y_text, is_text.
load "style.gp"
set xlabel x_text noenhanced
set ylabel y_text noenhanced
if (is_text) set style fill solid 0.85; set boxwidth 0.6; set offsets 0.5, 0.5, 0, 0; \
  plot data using 0:2:xtic(1) skip 1 with boxes lt 5 title "mean", \
       "" using 0:2:3:4 skip 1 with yerrorbars lt 7 title "lowest and highest of the study"
if (!is_text) plot data using 1:3:4 skip 1 with filledcurves fc rgb "#bcd9ec" fs solid noborder title "lowest to highest of the study", \
       "" using 1:2 skip 1 with linespoints lt 1 title "mean"
