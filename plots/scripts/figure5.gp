# Paper 003, Figure 5: reduction of the computation slowdown against BL, several GPUs.
load "style.gp"
y_text = "improvement over BL (%)"
load "bars.gp"
