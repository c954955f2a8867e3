# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 3: reduction of the computation slowdown against BL, one GPU.
scripts = ARG0[1:strlen(ARG0)-strlen("figure3.gp")]
load scripts."labels.gp"
load scripts."style.gp"
y_text = "improvement over ".base." (%)"
title_text = "Improvement over ".base." by mix".of_paper("Figure 3")
load scripts."bars.gp"
