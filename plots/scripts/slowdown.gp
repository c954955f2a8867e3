# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown by thermal throttling of every mix under every policy.
scripts = system("dirname '".ARG0."'")
load scripts."/style.gp"
y_text = "slowdown (%)"
title_text = "Slowdown by mix".of_paper("section 4.3")
load scripts."/bars.gp"
