# SPDX-License-Identifier: GPL-3.0-or-later
# Columns of a CSV file by their names: awk -v where='policy=all;bet=14' -v show='kernel;int_saved_pct' -f csv.awk -f select.awk table.csv
# where: what the rows must hold, "column=value" or "column~pattern", all of them; a column that the file lacks is not asked.
# show: the key of a row, then numbers; rows of one key become their mean. mean=1 adds the row "mean" over the keys;
# by=COLUMN with it, before that, a row "mean_VALUE" over the keys of each value of the column.
# over='policy=none': numbers are divided by those of the same key there.
function holds(what,   all, n, i, at, key, value, sign) {
    n = split(what, all, ";")
    for (i = 1; i <= n; i++) {
        at = match(all[i], /[=~]/)
        sign = substr(all[i], at, 1); key = substr(all[i], 1, at - 1); value = substr(all[i], at + 1)
        if (!(key in column)) continue
        if (sign == "=" && f[column[key]] != value) return 0
        if (sign == "~" && f[column[key]] !~ value) return 0
    }
    return 1
}
NR == 1 { n_head = cells($0, head); for (i = 1; i <= n_head; i++) column[head[i]] = i; n_show = split(show, shown, ";"); next }
{
    cells($0, f); key = f[column[shown[1]]]
    if (over != "" && holds(over)) for (j = 2; j <= n_show; j++) if (f[column[shown[j]]] != "") { base[key, j] += f[column[shown[j]]]; n_base[key, j]++ }
    if (!holds(where)) next
    if (!(key in seen)) { seen[key] = 1; keys[++n_key] = key; kind[key] = by == "" ? "" : f[column[by]] }
    if (by != "" && !(kind[key] in known)) { known[kind[key]] = 1; kinds[++n_kind] = kind[key] }
    for (j = 2; j <= n_show; j++) if (f[column[shown[j]]] != "") { sum[key, j] += f[column[shown[j]]]; count[key, j]++ }
}
END {
    for (k = 1; k <= n_key; k++) {
        line = keys[k]
        for (j = 2; j <= n_show; j++) {
            if (!count[keys[k], j]) { line = line ","; continue }
            v = sum[keys[k], j] / count[keys[k], j]
            if (over != "") v = base[keys[k], j] ? v / (base[keys[k], j] / n_base[keys[k], j]) : 0
            all[j] += v; n_all[j]++
            of[kind[keys[k]], j] += v; n_of[kind[keys[k]], j]++
            line = line "," v
        }
        print line
    }
    for (k = 1; mean && k <= n_kind; k++) {
        line = "mean_" kinds[k]
        for (j = 2; j <= n_show; j++) line = line "," (n_of[kinds[k], j] ? of[kinds[k], j] / n_of[kinds[k], j] : "")
        print line
    }
    if (mean && n_key) { line = "mean"; for (j = 2; j <= n_show; j++) line = line "," (n_all[j] ? all[j] / n_all[j] : ""); print line }
}
