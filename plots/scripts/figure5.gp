# SPDX-License-Identifier: GPL-3.0-or-later
# Paper 003, Figure 5: reduction of the computation slowdown against BL, several GPUs.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "improvement over ".base." (%)"
title_text = "Improvement over ".base." on several GPUs".of_paper("Figure 5")
load scripts."/bars.gp"
