# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 6: the same, mean over the mixes, by memory and interconnect technology.
wide = 5
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "improvement over BL, mean (%)"
set xlabel "memory and interconnect technology"
title_text = "Improvement over BL, mean (paper 003, Figure 6)"
load scripts."/bars.gp"
