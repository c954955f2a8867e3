# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 10: slowdown.
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig10.gp      reads dir/table.csv, writes dir/fig10.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig10.svg"
wide = 10; high = 4.4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
policies = "convpg gates naive_blackout coordinated_blackout warped_gates"
where = "bet=14;wakeup=3;fit=".fit
value = "slowdown_pct"
title_text = "Slowdown by unit gating (paper 001, Figure 10)"
y_text = "slowdown (%)"
paper_figure = "Figure 10"
paper_quantity = "mean$"
load scripts."/kernel_bars.gp"
