# Slowdown by thermal throttling of every mix under every policy.
load "style.gp"
y_text = "slowdown (%)"
load "bars.gp"
