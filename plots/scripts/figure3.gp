# Paper 003, Figure 3: reduction of the computation slowdown against BL, one GPU.
load "style.gp"
y_text = "improvement over BL (%)"
load "bars.gp"
