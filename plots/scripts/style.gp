# SPDX-License-Identifier: GPL-3.0-or-later
# Common look of all figures. Variables given by thermix plot (or by hand, with -e):
#   data    CSV file or files to draw     out   file to write     format   svg, png or pdf
#   scripts folder of this file with its slash, which every script finds by itself
#   size    small (a column), default (a page) or large (a slide): canvas, and letters that do not shrink or grow as much
if (!exists("format")) format = "svg"
if (!exists("size")) size = "default"
# small: 3.5 inches, a column of a journal, with letters of 8 and 7 points
canvas = size eq "small" ? 3.5/7.2 : size eq "large" ? 1.6 : 1.0
letter = size eq "small" ? 0.8 : size eq "large" ? 1.8 : 1.0
sized(p) = sprintf(",%d", int(p * letter + 0.5))
if (!exists("wide")) wide = 7.2      # inches: a text column and a half
if (!exists("high")) high = 4.0
set encoding utf8
of_variant = has("variant") ? ", ".word_of("variant") : "" # where a suite has several, the first
line_width = canvas > 1 ? canvas : canvas**0.5 # thin lines would vanish in a column
w = wide * canvas; h = high * canvas * (size eq "small" && !exists("exact") ? 1.3 : 1.0) # letters take more of a small page
if (format eq "svg") set terminal svg size 100*w,100*h dynamic noenhanced font "Helvetica".sized(14) background "#ffffff" linewidth line_width
if (format eq "png") set terminal pngcairo size 200*w,200*h noenhanced font "Helvetica".sized(size eq "small" ? 21 : 24) background "#ffffff" linewidth 2*line_width pointscale 1.6*canvas**0.5
if (format eq "pdf") set terminal pdfcairo size w in,h in noenhanced fontscale 0.75 font "Helvetica".sized(10) background "#ffffff" linewidth line_width pointscale 0.6*canvas**0.5
set output out
# A name has one colour and one hatching in every figure, report and film: those of colours.csv; paint.gp chooses among other1, other2, ... for the others.
table = " "
hatching = " " # so that grey prints differ
stats scripts."colours.csv" using (table = table.strcol(1)." ".strcol(2)." ", hatching = hatching.strcol(1)." ".strcol(3)." ", 1) skip 1 nooutput
listed(p) = strstrt(table, " ".p." ")
colour(p) = table[listed(p)+strlen(p)+2:listed(p)+strlen(p)+8]
pattern_of(p) = (at_p = strstrt(hatching, " ".p." ")+strlen(p)+2, int(hatching[at_p:at_p])) # of a listed name
small = sized(size eq "small" ? (format eq "png" ? 18.5 : format eq "pdf" ? 8.75 : 12.2) : format eq "png" ? 20 : format eq "pdf" ? 8 : 12)
if (size eq "small") set title font small
if (size eq "small") set key font small
# Series by their number, as GPUs: eight that are told apart, then again with dashes.
series(k) = word("#3A94FF #DC7B10 #15805A #B018B8 #000000 #EB1E3F #809850 #4848F8", 1 + (k - 1) % 8)
dash(k) = 1 + ((k - 1) / 8) % 4
lines = "A DVFS MU MNU other1 MA BL other2 other5 other3 other4 other6"
do for [k=1:words(lines)] { set linetype k lc rgb colour(word(lines, k)) lw 2 pt int(word("7 5 9 13 11 15 2 7 5 9 13 11", k)) }
set linetype cycle words(lines)
set border 3 lc rgb "#444444"
set tics nomirror out
set grid ytics lt 1 lc rgb "#d8d8d8" lw 0.6
set key outside top center horizontal Left reverse samplen 1.6 spacing 1.1 width 1 nobox
set style fill solid 0.95 noborder
set style histogram clustered gap 1
# cividis-like: dark blue (cool) to yellow (hot), even in brightness
set palette defined (0 "#00224e", 0.17 "#1d3f6f", 0.33 "#575d6d", 0.5 "#7c7b78", 0.67 "#a69d75", 0.83 "#d3c164", 1 "#fee838")
# A step for about n tics over a span: 1, 2 or 5 times a power of ten.
tenth(x) = 10**floor(log10(x))
step_of(x) = x / tenth(x) < 1.5 ? tenth(x) : x / tenth(x) < 3.5 ? 2 * tenth(x) : x / tenth(x) < 7.5 ? 5 * tenth(x) : 10 * tenth(x)
tics(span, n) = step_of(span > 0 ? 1.0 * span / n : 1)
