# SPDX-License-Identifier: GPL-3.0-or-later
# A metric against one axis of a study: the mean over the other axes, and their spread.
# data: value, mean, min, max (numbers) or text values. Variables x_text, y_text, is_text.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
set xlabel x_text noenhanced
set ylabel y_text noenhanced
if (is_text) set offsets 0.5, 0.5, 0, 0; \
  plot data using 0:2:3:4:xtic(1) skip 1 with yerrorbars lt 5 ps 0 title "lowest to highest of the study", \
       "" using 0:2 skip 1 with points lt 1 ps 1.4 title "mean"
if (!is_text) plot data using 1:3:4 skip 1 with filledcurves fc rgb "#bcd9ec" fs solid noborder title "lowest to highest of the study", \
       "" using 1:2 skip 1 with linespoints lt 1 title "mean"
