# SPDX-License-Identifier: GPL-3.0-or-later
# data: by, x, mean, low, high, place (of x among its values, from 0). Labels:
#   kind    curves (means over the runs of a point), points (a sampled study: each run) or map (x against by, the mean as a colour)
#   name    the values of by, in the order of the key; one: "all", a single curve
#   is_text 1: x is no number, its values stand at place 0, 1, ...
#   bars    what is between low and high, such as "95 % interval of the mean"; empty: nothing is drawn
#   title, x, y, by   of figure, axes and key; caption: what a point is the mean of
#   at_x, at_by       of a map: the values in order
#   longest, n_x      letters of the longest word on the horizontal axis, and how many there are
#   front             of points: how many no other beats in both; STEM_front.csv: x, y, name
# By hand: gnuplot -e 'data="X.csv"; out="x.svg"' study.gp
scripts = ARG0[1:strlen(ARG0)-strlen("study.gp")]
load scripts."labels.gp"
if (n_name > 6) high = 4.0 + 0.3 * (n_name - 6) # lines of the key
load scripts."style.gp"
caption = has("caption") ? "\n".word_of("caption") : ""
at = strlen(caption) > 70 ? strstrt(caption, "; bars") : 0 # a long one has two lines
set title word_of("title").(at ? caption[1:at-1]."\n".caption[at+2:strlen(caption)] : caption)
set xlabel word_of("x")
set ylabel word_of("y")
kind = word_of("kind")
is_text = int(number_of("is_text"))
by_text = word_of("by")
bars = has("bars") ? word_of("bars") : ""
repeated = bars[1:2] eq "95"
one = n_name == 1
load scripts."paint.gp"
shade(i) = one ? colour("A") : paint(i)
mean_and = "mean".(strlen(bars) ? "; ".bars : "")
unit_at = strstrt(by_text, " (") # on a line of its own
by_title = unit_at ? by_text[1:unit_at-1]."\n".by_text[unit_at+1:strlen(by_text)] : by_text
if (!one) set key outside right center vertical maxcols 1 spacing 1.3 title by_title
if (size eq "small" && !one) set key outside top center horizontal maxcols 3 spacing 1.1 font small title by_text
set autoscale xfix # the values and a little room, not the next tic
set offsets graph 0.03, graph 0.03, graph 0.05, 0
if (kind eq "map") {
    unset key
    unset grid
    set offsets 0, 0, 0, 0
    set ylabel by_text
    set cblabel word_of("y")
    # a tile reaches half the way to its neighbours
    xs = list_of("at_x")
    ys = list_of("at_by")
    value_at(list, k) = real(word(list, k))
    before(list, k) = k > 1 ? 0.5*(value_at(list, k-1)+value_at(list, k)) : value_at(list, 1)-0.5*(value_at(list, 2)-value_at(list, 1))
    after(list, k) = k < words(list) ? 0.5*(value_at(list, k)+value_at(list, k+1)) : value_at(list, k)+0.5*(value_at(list, k)-value_at(list, k-1))
    place(list, v) = (sum [k=1:words(list)] (value_at(list, k) == v ? k : 0))
    set xrange [before(xs, 1):after(xs, words(xs))]
    set yrange [before(ys, 1):after(ys, words(ys))]
    plot data using 2:1:(before(xs, place(xs, $2))):(after(xs, place(xs, $2))):(before(ys, place(ys, $1))):(after(ys, place(ys, $1))):3 skip 1 \
        with boxxyerror lc palette fs solid 1 noborder
}
if (kind eq "points" && !has("front")) plot for [i=1:n_name] data using 2:(strcol(1) eq name(i) ? $3 : NaN) skip 1 \
    with points pt mark(i) ps 1.1 lc rgb shade(i) title (one ? "a run" : name(i))
if (kind eq "points" && has("front")) {
    set offsets graph 0.05, graph (number_of("front") > 1 && number_of("front") < 9 ? 0.25 : 0.05), graph 0.07, graph 0.07
    front = stem."_front.csv"
    plot for [i=1:n_name] data using 2:(strcol(1) eq name(i) ? $3 : NaN) skip 1 with points pt mark(i) ps 1.1 lc rgb shade(i) title (one ? "a run" : name(i)), \
        front using 1:2 skip 1 with lines lw 1.5 lc rgb "#444444" title "not beaten", \
        front using 1:2:3 skip 1 with labels left offset 0.6,0.4 font small notitle
}
if (kind eq "curves" && is_text) {
    set offsets 0.5, 0.5, graph 0.05, 0
    if (has("longest") && number_of("longest") * number_of("n_x") * 0.09 * room > (one ? 6 : 4.6)) { set xtics rotate by -28 } # long names would touch
    side(i) = one ? 0 : 0.5 * (i - 0.5 * (n_name + 1)) / n_name
    how = strlen(bars) ? "with yerrorbars" : "with points"
    of = strlen(bars) ? ":4:5" : ""
    eval 'plot data using 6:3:xtic(2) skip 1 with dots lc rgb "#ffffffff" notitle, for [i=1:n_name] "" using ($6+side(i)):(strcol(1) eq name(i) ? $3 : NaN)'.of.' skip 1 '.how.' lw 1.2 pt mark(i) ps 1.2 lc rgb shade(i) title (one ? mean_and : name(i))'
}
if (kind eq "curves" && !is_text && one && !repeated) plot data using 2:4:5 skip 1 with filledcurves fc rgb "#bcd9ec" fs solid noborder title (strlen(bars) ? bars : ""), \
    "" using 2:3 skip 1 with linespoints lc rgb shade(1) title "mean"
if (kind eq "curves" && !is_text && (!one || repeated)) plot for [i=1:n_name] data using 2:(strcol(1) eq name(i) ? $3 : NaN) skip 1 \
    with linespoints pt mark(i) dt 1+(i-1)/6 lc rgb shade(i) title (one ? mean_and : name(i)), \
    for [i=1:n_name] data using 2:(repeated && strcol(1) eq name(i) ? $3 : NaN):4:5 skip 1 with yerrorbars lw 1.2 pt mark(i) lc rgb shade(i) notitle
