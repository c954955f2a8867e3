# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 5: reduction of the computation slowdown against BL, several GPUs.
scripts = ARG0[1:strlen(ARG0)-strlen("figure5.gp")]
load scripts."labels.gp"
load scripts."style.gp"
y_text = "improvement over ".base." (%)"
title_text = "Improvement over ".base." on several GPUs".of_paper("Figure 5")
load scripts."bars.gp"
