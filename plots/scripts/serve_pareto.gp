# SPDX-License-Identifier: GPL-3.0-or-later
# data: policy, variant, policy_number, variant_number, ttft_p99_s, j_per_token; STEM_front.csv: the same of those on the front. Labels: the
# policies' names, n_front, n_variant (0: variants are a load) with each variant.
scripts = ARG0[1:strlen(ARG0)-strlen("serve_pareto.gp")]
load scripts."labels.gp"
high = size eq "small" ? 8 : 4.8
load scripts."style.gp"
load scripts."paint.gp"
n_variant = int(number_of("n_variant"))
array variant[n_variant+1]
variant[1] = ""
k_at = 0
do for [k=1:n_label] { if (label_key[k] eq "variant") { k_at = k_at + 1; variant[k_at] = label_text[k] } }
symbol(v) = int(word("7 5 9 13 11 15 2 1 3 6 4 8", 1 + (int(v) - 1) % 12))
front_data = stem."_front.csv"
n_front = number_of("n_front") > 1
set title "Energy against the first token; left and below is better"
set xlabel "first token, slowest hundredth (s)"
set ylabel "energy (J a token)"
stats data using 5 skip 1 nooutput
x0 = STATS_min; x1 = STATS_max
stats data using 6 skip 1 nooutput
y0 = STATS_min; y1 = STATS_max
long_x = x1 > 8 * x0
long_y = y1 > 8 * y0
if (long_x) { set logscale x; set format x "%g"; set xrange [x0/1.4:x1*1.4] }
if (long_y) { set logscale y; set format y "%g"; set yrange [y0/1.4:y1*1.4] }
if (!long_x) { set xrange [x0-0.05*(x1-x0):x1+0.05*(x1-x0)+(x1 > x0 ? 0 : 0.1*x1)] }
if (!long_y) { set yrange [y0-0.08*(y1-y0):y1+0.08*(y1-y0)+(y1 > y0 ? 0 : 0.1*y1)] }
set key font small maxrows 4
do for [e=-3:3] { do for [m in "1 2 5"] {
  if (long_x && m*10.0**e > x0/1.4 && m*10.0**e < x1*1.4) { set xtics add (sprintf("%g", m*10.0**e) m*10.0**e) }
  if (long_y && m*10.0**e > y0/1.4 && m*10.0**e < y1*1.4) { set ytics add (sprintf("%g", m*10.0**e) m*10.0**e) }
} }
front = "front_data using 5:6 skip 1 with lines lt 7 lw 1 title \"not beaten\", "
points = "for [i=1:n_name] data using (int($3) == i ? $5 : NaN):6:(n_variant > 0 ? symbol($4) : 7) skip 1 with points pt variable ps 1.1 lc rgb paint(i) notitle"
names_of = "for [i=1:n_name] keyentry with points pt 7 lc rgb paint(i) title name(i), for [v=1:n_variant] keyentry with points pt symbol(v) lc rgb \"#444444\" title variant[v]"
eval "plot ".(n_front ? front : "").points.", ".names_of
