# SPDX-License-Identifier: GPL-3.0-or-later
# Labels beside those of bars.gp: title, y; if present, x, of (whose marks these are, named in the title
# where there are any), wide and high (inches).
scripts = ARG0[1:strlen(ARG0)-strlen("quantity.gp")]
load scripts."labels.gp"
if (has("wide")) wide = number_of("wide")
if (has("high")) high = number_of("high")
load scripts."style.gp"
if (has("x")) set xlabel word_of("x")
y_text = word_of("y")
title_text = word_of("title").(has("has_paper") && has("of") ? " (".word_of("of").")" : "")
load scripts."bars.gp"
