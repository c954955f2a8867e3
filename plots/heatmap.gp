# Block temperatures at one moment, in millimetres; the hottest block is named.
# data: unit, left_mm, right_mm, bottom_mm, top_mm, temp_c. Variables time_text, hottest_text, low_c, high_c.
wide = 5.6
high = 5.0
load "style.gp"
set title hottest_text
set xlabel "x (mm)"
set ylabel "y (mm)"
set size ratio -1
unset grid
unset key
set border 0
set xrange [0:*] noextend
set yrange [0:*] noextend
set cblabel "temperature (°C)" offset 1
set cbrange [low_c:high_c]
mid_c = (low_c + high_c) / 2
plot data using (($2+$3)/2):(($4+$5)/2):2:3:4:5:6 skip 1 with boxxyerror lc palette fs solid 1 border lc rgb "#222222", \
     "" using (($2+$3)/2):(($4+$5)/2):(strlen(strcol(1))*0.5 < ($3-$2) && $5-$4 > 1 ? strcol(1) : ""):($6 < mid_c ? 0xffffff : 0x000000) \
        skip 1 with labels font small tc rgb variable
