# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 9b: static energy saved, FP units (kernels with FP work).
# gnuplot -e "dir='out/wg'" plots/scripts/warped_gates_fig9b.gp      reads dir/table.csv, writes dir/fig9b.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/fig9b.svg"
wide = 10; high = 4.4
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
load scripts."/warped_gates.gp"
policies = "convpg gates naive_blackout coordinated_blackout warped_gates"
where = "bet=14;wakeup=3;fit=".fit
value = "fp_saved_pct"
title_text = "Static energy saved, FP units (paper 001, Figure 9b)"
y_text = "static energy saved (%)"
paper_figure = "Figure 9b"
paper_quantity = "mean$"
load scripts."/kernel_bars.gp"
