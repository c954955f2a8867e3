# SPDX-License-Identifier: GPL-3.0-or-later
wide = 11; high = 10
scripts = ARG0[1:strlen(ARG0)-strlen("cta_policies.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set key maxrows 1
set multiplot layout 3,1
title_text = "Performance against all cores (paper 000, Figure 6)"
y_text = "change (%)"
load scripts."bars.gp"
part = "_2"
title_text = "Energy against all cores (paper 000, Figure 6)"
load scripts."bars.gp"
part = "_3"
title_text = "Cores that work (paper 000, Figure 7)"
y_text = "cores"
load scripts."bars.gp"
unset multiplot
