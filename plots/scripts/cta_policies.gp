# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 000, Figures 6 and 7: performance, energy and cores under the policies.
# gnuplot -e "dir='out/tcs'" plots/scripts/cta_policies.gp     reads dir/table.csv, writes dir/policies.svg
if (!exists("dir")) dir = "."
if (!exists("out")) out = dir."/policies.svg"
wide = 11; high = 10
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
where = ""
with_mean = 0
policies = "tcs htcs tcs(throttling=false) static_optimal"
set key maxrows 1
set multiplot layout 3,1
value = "performance_vs_all_pct"
paper_figure = "Figure 6.*|Section IV"
paper_quantity = "^performance, change"
title_text = "Performance against all cores (paper 000, Figure 6)"
y_text = "change (%)"
load scripts."/kernel_bars.gp"
value = "energy_vs_all_pct"
paper_quantity = "^energy, change"
title_text = "Energy against all cores (paper 000, Figure 6)"
load scripts."/kernel_bars.gp"
value = "cores"
policies = "tcs static_optimal"
paper_names = "tcs all"
paper_figure = "Section.*"
paper_quantity = "^cores (that TCS settles for|of the static optimum)$"
title_text = "Cores that work (paper 000, Figure 7)"
y_text = "cores"
load scripts."/kernel_bars.gp"
unset multiplot
