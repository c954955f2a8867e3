# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 002, Figures 1, 3, 6 and 7: 30 cores, 60 cores and ApSA.
# gnuplot -e "dir='out/apsa'" plots/scripts/apsa.gp     reads dir/table.csv, writes dir/apsa.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/apsa.svg"
wide = 11; high = 16
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
where = ""
set key maxrows 1
set multiplot layout 5,1
mean_by = "paper_class"
policies = "all_30"
paper_figure = "Section [27].*"
paper_quantity = "^IPC, share of the peak"
value = "ipc_share_pct"
title_text = "IPC on 30 cores (paper 002, Figure 3; means of types I and II)"
y_text = "share of the peak (%)"
load scripts."/kernel_bars.gp"
policies = "all apsa"
paper_figure = "Figure 6|Section 5.1"
paper_quantity = "^IPC over 30"
value = "ipc_vs_30_pct"
title_text = "IPC in core cycles over 30 cores (paper 002, Figures 1 and 6)"
y_text = "change (%)"
load scripts."/kernel_bars.gp"
value = "performance_vs_30_pct"
paper_quantity = "^performance over 30"
title_text = "Performance in wall-clock time over 30 cores (paper 002, Figure 6)"
load scripts."/kernel_bars.gp"
policies = "all_30 apsa"
value = "power_vs_60_pct"
paper_figure = "Figure 7."
paper_quantity = "^power against 60"
title_text = "Mean power against 60 cores (paper 002, Figure 7)"
load scripts."/kernel_bars.gp"
policies = "all_30 all apsa"
value = "mean_power_w"
paper_figure = ""
title_text = "Mean power"
y_text = "power (W)"
load scripts."/kernel_bars.gp"
unset multiplot
