# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figures 8a and 8c: idle cycles relative to the two-level scheduler, wake-ups relative to ConvPG; INT.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig8ac.gp      reads dir/table.csv, writes dir/fig8ac.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig8ac.svg"
wide = 10; high = 7.6
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
policies = "gates coordinated_blackout warped_gates"
where = "bet=14;wakeup=3;fit=".fit
set multiplot layout 2,1
value = "int_idle_pct"
over = "policy=none;".where
title_text = "Idle cycles of INT units (paper 001, Figure 8a)"
y_text = "relative to the two-level scheduler"
paper_figure = "Figure 8a"
load scripts."/kernel_bars.gp"
value = "int_wakeups"
over = "policy=convpg;".where
title_text = "Wake-ups of INT units (paper 001, Figure 8c)"
y_text = "relative to ConvPG"
paper_figure = "Figure 8c"
load scripts."/kernel_bars.gp"
unset multiplot
