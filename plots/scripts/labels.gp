# SPDX-License-Identifier: GPL-3.0-or-later
# What a script looks up: words and numbers in the file beside the data, STEM_labels.csv of X.csv's stem X, or STEM_2_labels.csv with
# part "_2". word_of("title"), number_of("n_gpu"), has("variant"), list_of("x") (all of them, blanks between), name(1) to name(n_name).
# Names come only from here and from data: no command of a script holds one.
# Room that letters take in inches of a default page: a script that sizes its page by them asks before style.gp is loaded.
if (!exists("format")) format = "svg"
if (!exists("size")) size = "default"
room = size eq "small" ? 1.65 : (size eq "large" ? 1.125 : 1.0) * (format eq "png" ? 1.2 : 1.0)
frame = room * (format eq "svg" ? 1.2 : 1.0) # of tics and words at an axis, which SVG sets further out
if (!exists("stem")) stem = data[1:strlen(data)-4]
if (!exists("part")) part = ""
set datafile separator ","
set datafile commentschars ""
stats [*:*][*:*] stem.part."_labels.csv" using (1) skip 1 nooutput
n_label = int(STATS_records)
array label_key[n_label]
array label_text[n_label]
array names[n_label]
at = 0
stats [*:*][*:*] stem.part."_labels.csv" using (at = at + 1, label_key[at] = strcol(1), label_text[at] = strcol(2), 1) skip 1 nooutput
list_of(key) = (found = "", (sum [k=1:n_label] (label_key[k] eq key ? (found = found." ".label_text[k], 1) : 0)), found)
commas(s) = strstrt(s, "‚") == 0 ? s : s[1:strstrt(s, "‚")-1].",".commas(s[strstrt(s, "‚")+1:strlen(s)]) # a label holds none; in its place is U+201A
word_of(key) = (found = "", (sum [k=1:n_label] (label_key[k] eq key ? (found = label_text[k], 1) : 0)), commas(found))
has(key) = (sum [k=1:n_label] (label_key[k] eq key ? 1 : 0)) > 0
number_of(key) = word_of(key) eq "NaN" ? NaN : real(word_of(key))
n_name = 0
do for [k=1:n_label] { if (label_key[k] eq "name") { n_name = n_name + 1; names[n_name] = label_text[k] } }
name(i) = names[i]
