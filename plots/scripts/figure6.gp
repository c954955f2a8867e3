# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 6: the same, mean over the mixes, by memory and interconnect technology.
wide = 5
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "improvement over ".base.", mean (%)"
set xlabel "memory and interconnect technology"
title_text = "Improvement over ".base.", mean over the mixes".of_paper("Figure 6")
load scripts."/bars.gp"
