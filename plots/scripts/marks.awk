# SPDX-License-Identifier: GPL-3.0-or-later
# Where a paper's values stand among bars: GROUPS | awk -v policies='all tcs' -v names='all tcs' -v figure='Figure 6' -v quantity=. -f csv.awk
# -f marks.awk - paper.csv     prints the group's number from 0, the policy's from 1, and the value as printed.
# GROUPS: lines that begin with a bar group's name and a comma. names: how paper.csv calls the policies. A case is "GROUP POLICY",
# "mean POLICY" or "mean KIND POLICY" (group "mean_KIND"). Bounds (at least, at most) have no place among bars.
BEGIN { OFS = ","; n_policy = split(policies, policy, " "); split(names, name, " ") }
NR == FNR { sub(/,.*/, ""); group[$0] = NR - 1; next }
FNR == 1 { n = cells($0, head); for (i = 1; i <= n; i++) column[head[i]] = i; next }
{
    cells($0, f)
    if (f[column["figure"]] !~ ("^(" figure ")$") || f[column["quantity"]] !~ quantity) next
    if (f[column["paper_value"]] == "" || ("relation" in column && f[column["relation"]] != "equal")) next
    of = f[column["case"]]
    sub(/,? fit all$/, "", of); sub(/^geometric /, "", of); sub(/mean type /, "mean ", of); gsub(/ 30 cores/, "_30", of); sub(/ 60 cores$/, "", of)
    for (p = 1; p <= n_policy; p++) {
        at = length(of) - length(name[p])
        if (at < 0 || substr(of, at + 1) != name[p] || (at > 0 && substr(of, at, 1) != " ")) continue
        who = at > 0 ? substr(of, 1, at - 1) : "mean"
        gsub(/ /, "_", who)
        if (who in group) print group[who], p, f[column["paper_value"]]
    }
}
