# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 6: the same, mean over the mixes, by memory and interconnect technology.
wide = 5
scripts = ARG0[1:strlen(ARG0)-strlen("figure6.gp")]
load scripts."labels.gp"
load scripts."style.gp"
y_text = "improvement over ".base.", mean (%)"
set xlabel "memory and interconnect technology"
title_text = "Improvement over ".base.", mean over the mixes".of_paper("Figure 6")
load scripts."bars.gp"
