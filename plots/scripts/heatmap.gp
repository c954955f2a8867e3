# SPDX-License-Identifier: GPL-3.0-or-later
# data: unit, left_mm, right_mm, bottom_mm, top_mm, temp_c[, middle_c (under its name)]. Labels: title, low_c, high_c, n_gpu, name of each, n_column,
# n_row, pitch_x, pitch_y (mm from one GPU to the next); width_mm, height_mm of what is drawn. With cells, data_cells: x_mm, y_mm, temp_c,
# left_mm, right_mm, bottom_mm, top_mm of a grid under the blocks' outlines; uneven (1: its columns differ in width).
scripts = ARG0[1:strlen(ARG0)-strlen("heatmap.gp")]
load scripts."labels.gp"
n_gpu = int(number_of("n_gpu")); n_column = int(number_of("n_column")); n_row = int(number_of("n_row"))
pitch_x = number_of("pitch_x"); pitch_y = number_of("pitch_y")
low_c = number_of("low_c"); high_c = number_of("high_c")
each = n_gpu > 16 ? 9.0 / n_column : 4.4 # inches a GPU: a hall stays a page
if (n_gpu > 16 && each * n_row * pitch_y / pitch_x > 9) each = 9 / (n_row * pitch_y / pitch_x)
left = 0.62 * frame; right = 0.86 * frame; above = 0.42 * room; below = 0.64 * frame # inches around one GPU
w_mm = has("width_mm") ? number_of("width_mm") : pitch_x / 1.06
h_mm = has("height_mm") ? number_of("height_mm") : pitch_y / 1.14
wide = n_gpu == 1 ? 5.6 : 1.4 * room + each * n_column
ratio = n_gpu == 1 ? h_mm / w_mm : pitch_y / pitch_x
if (n_gpu == 1 && ratio > 1.3) wide = left + right + (5.6 - left - right) * 1.3 / ratio # a tall chip stays on the page
high = n_gpu == 1 ? above + below + (wide - left - right) * ratio : 0.9 + each * n_row * ratio
if (high < above + below + 0.8) high = above + below + 0.8
exact = 1
load scripts."style.gp"
set title word_of("title")
set xlabel "x (mm)"
set ylabel "y (mm)"
set size ratio -1
unset grid
unset key
set border 0
set xrange [0:*] noextend
set yrange [0:*] noextend
if (has("width_mm")) { set xrange [0:number_of("width_mm")] noextend; set yrange [0:number_of("height_mm")] noextend }
if (n_gpu > 1) {
    unset tics
    unset xlabel
    unset ylabel
    set xrange [0:n_column*pitch_x] noextend
    set yrange [0:n_row*pitch_y] noextend
    do for [g=0:(each > 1 ? n_name-1 : -1)] {
        set label g+1 "GPU ".name(g+1) at (g%n_column)*pitch_x, (n_row-g/n_column)*pitch_y offset 0.2,(each > 3 ? -0.7 : -0.4) font (each > 3 ? "" : small)
    }
}
# the scale's words stay on the page, however long its numbers are
set cbtics tics(high_c - low_c, 5) format "%g"
set label 9999 "temperature (°C)" at screen 1-0.11*room/wide, screen (n_gpu == 1 ? 0.5*(1+(below-above)/high) : 0.47) center rotate by 90
set cbrange [low_c:high_c]
set rmargin at screen 1-right/wide
set colorbox user origin screen 1-(right-0.12)/wide, screen (n_gpu == 1 ? below/high : 0.06) size screen 0.17*room/wide, screen (n_gpu == 1 ? 1-(above+below)/high : 0.82)
if (n_gpu == 1) {
    set lmargin at screen left/wide
    set bmargin at screen below/high
    set tmargin at screen 1-above/high
    set xtics tics(w_mm, size eq "small" ? 5 : 8)
    set ytics tics(h_mm, size eq "small" ? 4 : 7)
}
mid_c = (low_c + high_c) / 2
a_letter = 0.085 * room * (n_gpu > 1 ? pitch_x / each : w_mm / (wide - left - right)) # mm
fits(name, w, h) = strlen(name) * a_letter < 0.96 * w && h > 1.9 * a_letter
digits(s) = strlen(s) < 2 || strstrt("0123456789", s[1:1]) ? s : digits(s[2:strlen(s)])
label_of(s, w, h) = fits(s, w, h) ? s : strstrt("0123456789", s[strlen(s):strlen(s)]) && fits(digits(s), w, h) ? digits(s) : "" # its number, at least
ink(c) = c < mid_c ? 0xffffff : 0x000000
if (has("cells")) {
    bitmap = format ne "svg" && !(has("uneven") && number_of("uneven") > 0) # boxes would show seams there
    cells = stem."_cells.csv"
    drawn = bitmap ? "cells using 1:2:3 skip 1 with image" : "cells using 1:2:4:5:6:7:3 skip 1 with boxxyerror lc palette fs solid 1 noborder"
    eval "plot ".drawn.", ".'data using (($2+$3)/2):(($4+$5)/2):2:3:4:5 skip 1 with boxxyerror lc rgb "#222222" fs empty, "" using (($2+$3)/2):(($4+$5)/2):(label_of(strcol(1), $3-$2, $5-$4)):(ink($7)) skip 1 with labels font small tc rgb variable'
} else {
    plot data using (($2+$3)/2):(($4+$5)/2):2:3:4:5:6 skip 1 with boxxyerror lc palette fs solid 1 border lc rgb "#222222", \
     "" using (($2+$3)/2):(($4+$5)/2):(each > 3 ? label_of(strcol(1), $3-$2, $5-$4) : ""):(ink($6)) skip 1 with labels font small tc rgb variable
}
