# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown, mean over the mixes, of every variant of a suite under every policy.
wide = 9; high = 5.2
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "slowdown, mean over the mixes (%)"
title_text = "Slowdown by variant"
set xtics rotate by 25 right font small
load scripts."/bars.gp"
