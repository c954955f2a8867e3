# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 10: slowdown.
wide = 10; high = 4.4
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig10.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set xtics rotate by -35
title_text = "Slowdown by unit gating (paper 001, Figure 10)"
y_text = "slowdown (%)"
load scripts."bars.gp"
