# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown by thermal throttling of every mix under every policy.
scripts = ARG0[1:strlen(ARG0)-strlen("slowdown.gp")]
load scripts."labels.gp"
load scripts."style.gp"
y_text = "slowdown (%)"
title_text = "Slowdown by mix".of_paper("section 4.3")
load scripts."bars.gp"
