# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 001, Figure 9b: static energy saved, FP units (kernels with FP work).
wide = 10; high = 4.4
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig9b.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set xtics rotate by -35
title_text = "Static energy saved, FP units (paper 001, Figure 9b)"
y_text = "static energy saved (%)"
load scripts."bars.gp"
