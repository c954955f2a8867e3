# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 8b: time compensated less time uncompensated, INT units.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig8b.gp      reads dir/table.csv, writes dir/fig8b.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig8b.svg"
wide = 10; high = 4.4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
policies = "convpg gates naive_blackout coordinated_blackout warped_gates"
where = "bet=14;wakeup=3;fit=".fit
value = "int_compensated_pct"
title_text = "Compensated less uncompensated time, INT units (paper 001, Figure 8b)"
y_text = "share of the time (%)"
paper_figure = "Figure 8b"
paper_quantity = "mean$"
load scripts."/kernel_bars.gp"
