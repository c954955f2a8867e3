# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 5: reduction of the computation slowdown against BL, several GPUs.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "improvement over BL (%)"
title_text = "Improvement over BL by mix, several GPUs (paper 003, Figure 5)"
load scripts."/bars.gp"
