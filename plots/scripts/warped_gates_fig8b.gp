# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 8b: time compensated less time uncompensated, INT units.
wide = 10; high = 4.4
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig8b.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set xtics rotate by -35
title_text = "Compensated less uncompensated time, INT units (paper 001, Figure 8b)"
y_text = "share of the time (%)"
load scripts."bars.gp"
