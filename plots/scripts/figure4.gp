# Paper 003, Figure 4: energy saved against BL, one GPU.
load "style.gp"
y_text = "energy saved against BL (%)"
load "bars.gp"
