#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/bring-your-own.md work and leave what the page says.    bring_your_own.sh THERMIX ROOT
set -uo pipefail
thermix=$1
export THERMIX_DATA=$2 DOCS=$2/docs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
mkdir bin && ln -s "$thermix" bin/thermix
PATH=$dir/bin:$PATH
say() { echo "FAILED: $*"; exit 1; }
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$THERMIX_DATA/docs/bring-your-own.md" |
  sed 's/rows = 16; cols = 16/rows = 8; cols = 8/; s/ = 0\.1;/ = 0.5;/g' >commands.sh # a coarser run of the same steady temperatures
[ "$(wc -l <commands.sh)" -ge 10 ] || say "no commands found"
bash -euo pipefail -x commands.sh >log.txt 2>&1 || { tail -20 log.txt; say "a command"; }
for f in errors.csv figures/gpu.svg mine/fit.csv mine/node.cfg out/trace.csv; do [ -s "$f" ] || say "no $f"; done
awk -F, '$2 == 0 { last = $6 } END { exit !(last > 88 && last < 92) }' out/trace.csv || say "the last temperature: $(tail -1 out/trace.csv)"
awk -F, 'FNR == 1 { f++ } { last[f] = $6 } END { d = last[1] - last[2]; exit !(d > 12.7 && d < 13.5) }' sink-100/trace.csv sink-50/trace.csv ||
  say "half the sink's resistance: $(tail -qn 1 sink-*/trace.csv | cut -d, -f 6 | tr '\n' ' ')"
# a chip's folder without ./ is looked for among the chips, and the message says what was meant
"$thermix" check gemm-run.cfg --set chip=a100-hbm >/dev/null 2>err.txt && say "chip a100-hbm"
grep -q 'the one in this folder is "./a100-hbm"' err.txt || say "$(cat err.txt)"
# `list keys` has every table of rows of the files that have such tables
for file in $(cd "$THERMIX_DATA" && grep -lE 'const struct tmx_keys [a-z_]+\[\] = ' -r core run power study papers --include='*.c'); do
  for rows in $(sed -nE 's/^(static )?const struct tmx_opt ([a-z_]+)\[.*/\2/p' "$THERMIX_DATA/$file"); do
    [ "$rows" = launch_opts ] || sed -n '/const struct tmx_keys/,/};/p' "$THERMIX_DATA/$file" | grep -qwE "$rows|TMX_RUN_GROUPS" || say "list keys lacks $rows of $file"
  done
done
echo "bring your own: all well"
