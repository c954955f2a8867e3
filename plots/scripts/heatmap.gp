# SPDX-License-Identifier: GPL-3.0-or-later
# Block temperatures at one moment, in millimetres; the hottest block is named. Several GPUs stand in rows.
# data: unit, left_mm, right_mm, bottom_mm, top_mm, temp_c. Labels: title, low_c, high_c, n_gpu, n_column,
# n_row, pitch_x, pitch_y (mm from one GPU to the next). With cells, data_cells: x_mm, y_mm, temp_c of a grid under the blocks' outlines.
scripts = ARG0[1:strlen(ARG0)-strlen("heatmap.gp")]
load scripts."labels.gp"
n_gpu = int(number_of("n_gpu")); n_column = int(number_of("n_column")); n_row = int(number_of("n_row"))
pitch_x = number_of("pitch_x"); pitch_y = number_of("pitch_y")
low_c = number_of("low_c"); high_c = number_of("high_c")
each = n_gpu > 16 ? 9.0 / n_column : 4.4 # inches a GPU: a hall stays a page
if (n_gpu > 16 && each * n_row * pitch_y / pitch_x > 9) each = 9 / (n_row * pitch_y / pitch_x)
wide = n_gpu == 1 ? 5.6 : 1.2 + each * n_column
high = n_gpu == 1 ? 5.0 : 0.9 + each * n_row * pitch_y / pitch_x
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
if (n_gpu > 1) {
    unset tics
    unset xlabel
    unset ylabel
    set xrange [0:n_column*pitch_x] noextend
    set yrange [0:n_row*pitch_y] noextend
    do for [g=0:(each > 1 ? n_gpu-1 : -1)] {
        set label g+1 sprintf("GPU %d", g) at (g%n_column)*pitch_x, (n_row-g/n_column)*pitch_y offset 0.2,(each > 3 ? -0.7 : -0.4) font (each > 3 ? "" : small)
    }
}
set cbtics
set cblabel "temperature (°C)" offset 1
set cbrange [low_c:high_c]
mid_c = (low_c + high_c) / 2
letter = pitch_x / 50 # a name is written where it fits
if (has("cells")) {
    plot stem."_cells.csv" using 1:2:3 skip 1 with image pixels, \
         data using (($2+$3)/2):(($4+$5)/2):2:3:4:5 skip 1 with boxxyerror lc rgb "#222222" fs empty, \
         "" using (($2+$3)/2):(($4+$5)/2):(strlen(strcol(1))*letter < ($3-$2) && $5-$4 > 2*letter ? strcol(1) : ""):($6 < mid_c ? 0xffffff : 0x000000) \
            skip 1 with labels font small tc rgb variable
} else {
    plot data using (($2+$3)/2):(($4+$5)/2):2:3:4:5:6 skip 1 with boxxyerror lc palette fs solid 1 border lc rgb "#222222", \
     "" using (($2+$3)/2):(($4+$5)/2):(each > 3 && strlen(strcol(1))*letter < ($3-$2) && $5-$4 > 2*letter ? strcol(1) : ""):($6 < mid_c ? 0xffffff : 0x000000) \
        skip 1 with labels font small tc rgb variable
}
