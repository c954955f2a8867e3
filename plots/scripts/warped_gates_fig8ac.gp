# SPDX-License-Identifier: GPL-3.0-or-later
wide = 10; high = 7.6
scripts = ARG0[1:strlen(ARG0)-strlen("warped_gates_fig8ac.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set multiplot layout 2,1
title_text = "Idle cycles of INT units (paper 001, Figure 8a)"
y_text = "relative to the two-level scheduler"
load scripts."bars.gp"
part = "_2"
title_text = "Wake-ups of INT units (paper 001, Figure 8c)"
y_text = "relative to ConvPG"
load scripts."bars.gp"
unset multiplot
