# SPDX-License-Identifier: GPL-3.0-or-later
wide = 11; high = 16
scripts = ARG0[1:strlen(ARG0)-strlen("apsa.gp")]
load scripts."labels.gp"
load scripts."style.gp"
set key maxrows 1
set multiplot layout 5,1
title_text = "IPC on 30 cores (paper 002, Figure 3; means of types I and II)"
y_text = "share of the peak (%)"
load scripts."bars.gp"
part = "_2"
title_text = "IPC in core cycles over 30 cores (paper 002, Figures 1 and 6)"
y_text = "change (%)"
load scripts."bars.gp"
part = "_3"
title_text = "Performance in wall-clock time over 30 cores (paper 002, Figure 6)"
load scripts."bars.gp"
part = "_4"
title_text = "Mean power against 60 cores (paper 002, Figure 7)"
load scripts."bars.gp"
part = "_5"
title_text = "Mean power"
y_text = "power (W)"
load scripts."bars.gp"
unset multiplot
