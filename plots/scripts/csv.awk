# SPDX-License-Identifier: GPL-3.0-or-later
# The cells of a line of CSV, quoted or not, as to[1] to to[n]; for awk -f csv.awk -f ANOTHER.awk.
function cells(line, to,   n, i, c, quoted) {
    n = 1; to[1] = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) to[++n] = ""
        else to[n] = to[n] c
    }
    return n
}
