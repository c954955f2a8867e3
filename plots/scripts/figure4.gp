# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 4: energy saved against BL, one GPU.
scripts = ARG0[1:strlen(ARG0)-strlen("figure4.gp")]
load scripts."labels.gp"
load scripts."style.gp"
y_text = "energy saved against ".base." (%)"
title_text = "Energy saved against ".base." by mix".of_paper("Figure 4")
load scripts."bars.gp"
