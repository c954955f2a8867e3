#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# hotspot_models.sh THERMIX GOLDEN: HotSpot's block model and its micro-channels with detailed_3D give HotSpot's own files.
set -uo pipefail
thermix=$1 golden=$2 bad=0
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
say() { echo "FAILED: $*"; bad=1; }
compare() { # OURS HOTSPOT'S LARGEST: the same words, numbers as near as this
  paste -d' ' <(tr -s '\t ' '\n' <"$1") <(tr -s '\t ' '\n' <"$2") | awk -v most="$3" '
    $1 != $2 { d = $1 - $2; if (d < 0) d = -d; if (!(d <= most)) { print "  " $1 " for " $2; bad = 1 } } END { exit bad }' || say "$1"
}

cd "$golden/I_channels" || exit 1
channels() { "$thermix" thermal -c case.config -p power.ptrace -materials_file chip.materials -grid_layer_file chip.lcf -use_microchannels 1 --quiet "$@"; }
channels -detailed_3D on --hotspot-compat --scheme be -o "$here/i.ttrace" -steady_file "$here/i.steady" -grid_steady_file "$here/i.grid_steady" 2>"$here/err" ||
  say "$(cat "$here/err")"
for file in ttrace steady grid_steady; do
  cmp -s "$here/i.$file" "out.$file" || say "I_channels: $file is not HotSpot's"
done
channels -detailed_3D on -coolant_limit 310 2>"$here/err" && say "coolant that boils"
grep -q 'layer 1: coolant boils: it reaches 3.* mm from the west' "$here/err" || say "$(cat "$here/err")"
channels 2>"$here/err" && say "cells without materials"
grep -q 'use_microchannels 1 needs -detailed_3D on' "$here/err" || say "$(cat "$here/err")"
map() { # what sed does to the map, message
  sed "$1" map.csv >"$here/map.csv"
  sed "s#map.csv#$here/map.csv#" chip.lcf >"$here/chip.lcf"
  channels -detailed_3D on -grid_layer_file "$here/chip.lcf" 2>"$here/err" && say "took: $2"
  grep -q "$2" "$here/err" || say "$2: $(cat "$here/err")"
}
channels() { "$thermix" thermal -c case.config -p power.ptrace -materials_file chip.materials -use_microchannels 1 --quiet "$@"; }
map 's/2/1/g' 'no inlet (2): nothing flows'
map '3s/,0$//' 'map.csv:3: 11 cells in a row; grid_cols is 12'
map '4s/0,1,0/0,,0/' 'map.csv:4: cell 2 is empty'
map '4d' '11 rows of cells; grid_rows is 12'
map '5s/1/7/' 'map.csv:5: "7": expected a cell from -1 to 3'

cd "$golden/H_block" || exit 1
block() { "$thermix" thermal -c case.config -f chip.flp -p power.ptrace --quiet "$@"; }
block -o "$here/h.ttrace" -steady_file "$here/h.steady" -all_transient_file "$here/h.all"
cmp -s "$here/h.steady" out.steady || say "H_block: steady is not HotSpot's"
compare "$here/h.ttrace" out.ttrace 0.011 # HotSpot's own step control has 0.01 K
block --method reduced -o "$here/r" 2>"$here/err" && say "a reduced block model"
grep -q 'reduced does not model the block model' "$here/err" || say "$(cat "$here/err")"
block -grid_steady_file "$here/g" 2>"$here/err" && say "a grid of blocks"
grep -q 'model_type block: not with grid_steady_file' "$here/err" || say "$(cat "$here/err")"

# Blocks that overlap by 10 um: HotSpot (SuperLU build) computed a 324.00, b 326.24, c 324.18 K, and 333.16 333.18 333.16 after the second row.
printf 'a 0.006 0.012 0 0\nb 0.00601 0.005 0.00599 0\nc 0.006 0.007 0.006 0.005\n' >"$here/o.flp"
printf 'a\tb\tc\n10\t20\t5\n12\t3\t9\n' >"$here/o.ptrace"
overlap() {
  "$thermix" thermal -f "$here/o.flp" -p "$here/o.ptrace" -model_type grid -grid_rows 8 -grid_cols 8 -s_sink 0.06 -s_spreader 0.03 --hotspot-compat --scheme be \
    -steady_file "$here/o.steady" -o "$here/o.ttrace" "$@" 2>"$here/err"
}
overlap --allow-overlaps 10 || say "$(cat "$here/err")"
[ "$(head -3 "$here/o.steady" | cut -f2 | tr '\n' ' ')$(tail -1 "$here/o.ttrace")" = $'324.00 326.24 324.18 333.16\t333.18\t333.16' ] || say "overlap is not HotSpot's"
grep -q '0.0347 % covered twice' "$here/err" || say "an overlap without a note"
overlap --allow-overlaps 9.5 && say "an overlap deeper than the option"
grep -q 'overlaps "a" by 10.000 x 5000.000 um.*thermix thermal --allow-overlaps' "$here/err" || say "$(cat "$here/err")"

# Two traces, the second from the end of the first, are one.
head -4 power.ptrace >"$here/a.ptrace" && { head -1 power.ptrace && tail -n +5 power.ptrace; } >"$here/b.ptrace"
for model in block grid; do
  run() { "$thermix" thermal -c case.config -f chip.flp -model_type $model --precision 9 --quiet --method grid "$@"; }
  run -p power.ptrace -o "$here/once" && run -p "$here/a.ptrace" -all_transient_file "$here/all"
  run -p "$here/b.ptrace" -init_file "$here/all" -o "$here/twice"
  compare "$here/twice" <(head -1 "$here/once" && tail -n +5 "$here/once") $([ $model = block ] && echo 1e-7 || echo 2)
done
exit $bad
