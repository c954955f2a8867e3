# Paper 003, Figure 6: the same, mean over the mixes, by memory and interconnect technology.
wide = 5
load "style.gp"
y_text = "improvement over BL, mean (%)"
set xlabel "memory and interconnect technology"
load "bars.gp"
