# SPDX-License-Identifier: GPL-3.0-or-later
# Of dir/table.csv of paper 001: which fit of the knobs is drawn, "all" where the table has it, else its first.
fit = system("awk -f '".scripts."/csv.awk' -f '".scripts."/select.awk' -v show='fit;bet' '".dir."/table.csv' | cut -d, -f1 | sort | head -n 1")
