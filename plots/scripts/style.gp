# SPDX-License-Identifier: GPL-3.0-or-later
# Common look of all figures. Variables given by `thermix plot` (or by hand, with -e):
#   data    CSV file or files to draw     out   file to write     format   svg, png or pdf
#   scripts folder of this file, which every script finds by itself
#   size    small (a column), default (a page) or large (a slide): canvas, and letters that do not shrink or grow as much
if (!exists("format")) format = "svg"
if (!exists("size")) size = "default"
canvas = size eq "small" ? 0.5 : size eq "large" ? 1.6 : 1.0
letter = size eq "small" ? 0.62 : size eq "large" ? 1.8 : 1.0
sized(p) = sprintf(",%d", int(p * letter + 0.5))
if (!exists("wide")) wide = 7.2      # inches: a text column and a half
if (!exists("high")) high = 4.0
set encoding utf8
# Of suites: what they compare with, and whose figure it is where the paper's values are beside it.
if (!exists("base")) base = "BL"
of_paper(figure) = exists("paper") ? " (paper 003, ".figure.")" : ""
of_variant = exists("variant") ? ", ".variant : "" # where a suite has several, the first
set datafile separator ","
w = wide * canvas; h = high * canvas
if (format eq "svg") set terminal svg size 100*w,100*h dynamic noenhanced font "Helvetica".sized(14) background "#ffffff" linewidth canvas**0.5
if (format eq "png") set terminal pngcairo size 200*w,200*h noenhanced font "Helvetica".sized(24) background "#ffffff" linewidth 2*canvas**0.5 pointscale 1.6*canvas
if (format eq "pdf") set terminal pdfcairo size w in,h in noenhanced font "Helvetica".sized(10) background "#ffffff" linewidth canvas**0.5
set output out
# A name has one colour in every figure: that of colours.csv, or one of its letters' choosing.
colours = " ".system("sed -e 1d -e 's/,/ /' '".scripts."/colours.csv' | tr '\\n' ' '")." "
others = "#882255 #44AA99 #999933 #332288 #AA4499 #117733 #88CCEE #DDCC77"
letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.()=, "
hash(p) = 1 + (sum [k=1:strlen(p)] k * strstrt(letters, p[k:k])) % words(others)
colour_at(p, k) = k > 0 ? colours[k+strlen(p)+2:k+strlen(p)+8] : word(others, hash(p))
colour(p) = colour_at(p, strstrt(colours, " ".p." "))
small = sized(format eq "png" ? 20 : format eq "pdf" ? 8 : 12)
if (size eq "small") set title font small
# Okabe and Ito's palette: told apart by colour-blind readers.
set linetype 1 lc rgb "#0072B2" lw 2 pt 7
set linetype 2 lc rgb "#E69F00" lw 2 pt 5
set linetype 3 lc rgb "#009E73" lw 2 pt 9
set linetype 4 lc rgb "#CC79A7" lw 2 pt 13
set linetype 5 lc rgb "#56B4E9" lw 2 pt 11
set linetype 6 lc rgb "#D55E00" lw 2 pt 15
set linetype 7 lc rgb "#555555" lw 2 pt 2
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
