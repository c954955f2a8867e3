# SPDX-License-Identifier: GPL-3.0-or-later
# Colours of a figure's names, as paint(i). Variables: n_name, name(i). A name that colours.csv lacks has the colour its letters choose,
# or the next that no other name of the figure has: a policy of one's own keeps its colour. report/study.js does the same.
letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.()=, "
n_other = 12 # other1 to other6 are no colour of a policy of paper 003
painted(i) = has("was_".name(i)) ? word_of("was_".name(i)) : name(i) # a name that was changed keeps its colour
hash(p) = (sum [k=1:strlen(p)] k * strstrt(letters, p[k:k])) % 6
other(k) = colour(sprintf("other%d", 1 + k % n_other))
taken = ""
do for [i=1:n_name] { if (listed(painted(i))) { taken = taken.colour(painted(i)) } }
array paints[n_name+1]
array hatches[n_name+1]
do for [i=1:n_name] {
    at = hash(painted(i))
    paints[i] = listed(painted(i)) ? colour(painted(i)) : other(at)
    hatches[i] = listed(painted(i)) ? pattern_of(painted(i)) : 0
    if (!listed(painted(i))) {
        do for [k=n_other-1:0:-1] { if (!strstrt(taken, other(at+k))) { paints[i] = other(at+k); hatches[i] = pattern_of(sprintf("other%d", 1 + (at+k) % n_other)) } }
        taken = taken.paints[i]
    }
}
paint(i) = paints[i]
hatch(i) = hatches[i]
mark(i) = int(word("7 5 9 11 13 15 4 6 8 10 12 14", 1 + (i - 1) % 12)) # of points
