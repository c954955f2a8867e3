# SPDX-License-Identifier: GPL-3.0-or-later
# data: unit, left_mm, right_mm, bottom_mm, top_mm, kind (from 1). Labels: the kinds'
# names, fill (a colour of each), width_mm, height_mm.
scripts = ARG0[1:strlen(ARG0)-strlen("floorplan.gp")]
load scripts."labels.gp"
w_mm = number_of("width_mm"); h_mm = number_of("height_mm")
left = 0.62 * frame; below = 0.64 * frame; above = (0.12 + 0.22 * ceil(n_name / 4.0)) * room
wide = 5.6
ratio = h_mm / w_mm
if (ratio > 1.3) wide = left + 0.15 + (5.6 - left - 0.15) * 1.3 / ratio
high = below + above + (wide - left - 0.15) * ratio
exact = 1
load scripts."style.gp"
fills = list_of("fill")
set xlabel "x (mm)"
set ylabel "y (mm)"
unset grid
set border 0
set size ratio -1
set xrange [0:w_mm] noextend
set yrange [0:h_mm] noextend
set lmargin at screen left/wide
set rmargin at screen 1-0.15/wide
set bmargin at screen below/high
set tmargin at screen 1-above/high
set xtics tics(w_mm, size eq "small" ? 5 : 8)
set ytics tics(h_mm, size eq "small" ? 4 : 7)
set key at screen 0.5,1-0.06/high top center horizontal maxcols 4 font small samplen 1.2
mm = 0.075 * room * w_mm / (wide - left - 0.15) # of a letter
fits(s, w, h) = strlen(s) * mm < 0.96 * w && h > 1.9 * mm
upright(s, w, h) = fits(s, w, h) || !fits(s, h, w)
plot for [k=1:n_name] data using ($6==k ? ($2+$3)/2 : NaN):(($4+$5)/2):2:3:4:5 skip 1 with boxxyerror lc rgb word(fills, k) fs solid 1 border lc rgb "#333333" notitle, \
     for [k=1:n_name] keyentry with boxes lc rgb word(fills, k) fs solid 1 border lc rgb "#333333" title name(k), \
     data using (($2+$3)/2):(($4+$5)/2):(fits(strcol(1), $3-$2, $5-$4) ? strcol(1) : "") skip 1 with labels font small notitle, \
     data using (($2+$3)/2):(($4+$5)/2):(upright(strcol(1), $3-$2, $5-$4) ? "" : strcol(1)) skip 1 with labels font small rotate by 90 notitle
