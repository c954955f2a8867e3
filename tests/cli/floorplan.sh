#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `thermix floorplan`: what it makes, and what it refuses. Usage: floorplan.sh THERMIX
set -euo pipefail
thermix=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
say() { echo "FAILED: $*"; exit 1; }
f() { "$thermix" floorplan "$@"; }

f generate --sms 30 --per-tpc 3 --die 24x24mm -o a.flp
f check a.flp | grep -q '33 units tile 24 x 24 mm' || say check
f show a.flp --format csv | grep -q '^SM0,2,0,4,2.5,10$' || say show
f show a.flp -o a.svg && grep -q '>SM29</text>' a.svg || say svg
f rotate a.flp -o r.flp && f rotate r.flp --turns 3 -o b.flp
cmp <(f show a.flp) <(f show b.flp) || say rotate
f split a.flp --unit SM3 --by 2x1 -o s.flp && f check s.flp | grep -q '34 units' || say split
f grid a.flp --by 8x8 -o g.flp && f check g.flp | grep -q '64 units' || say grid
f scale a.flp --by 0.5 -o h.flp && f check h.flp | grep -q '12 x 12 mm' || say scale
f swap a.flp --unit SM0 --with UNCORE0 -o w.flp && f show w.flp --format csv | grep -q '^UNCORE0,2,0,4,2.5,10$' || say swap

# One power file on several floorplans: the kelvins of `thermix thermal`, less on a larger die.
printf 'left 0.004 0.008 0 0\nright 0.004 0.008 0.004 0\n' >two.flp
printf 'left right\n20 5\n10 5\n' >two.ptrace
printf -- '-t_chip 150e-6\n-r_convec 0.3\n-ambient 318.15\n' >two.config
f scale two.flp --by 1.5 -o wide.flp
f compare two.flp wide.flp -c two.config -p two.ptrace -o compared --format csv >compare.csv 2>err.txt || say "compare: $(cat err.txt)"
"$thermix" thermal -c two.config -f two.flp -p two.ptrace --precision 9 2>/dev/null | awk '$1 == "left" { l = $2 } $1 == "right" { r = $2 } END { print l - 273.15, l - r }' OFMT=%.6f >thermal.txt
awk -F, 'NR == FNR { split($0, t, " "); next } FNR == 2 { bad = $2 != 20 || $3 != "left" || ($4 - t[1]) ^ 2 > 1e-10 || ($5 - t[2]) ^ 2 > 1e-10; k = $4 } FNR == 3 { bad += $4 >= k }
  END { exit bad || FNR != 3 }' thermal.txt compare.csv || say "compare -c -p: $(cat thermal.txt compare.csv)"
[ "$(wc -l <compared/units.csv)" = 5 ] || say "compare -o: $(cat compared/units.csv)"

refuses() { # "words" ARGUMENT...
  local words=$1 code=0
  shift
  f "$@" 2>err.txt >/dev/null || code=$?
  [ $code = 2 ] && grep -qF -- "$words" err.txt || say "$*: exit $code, $(cat err.txt)"
}
refuses 'did you mean "SM3"' split a.flp --unit SMM3 --by 2x2
refuses 'option of optimise' compare two.flp wide.flp -p two.ptrace --set lambdaA=2
refuses 'or -p POWER' compare two.flp wide.flp -p two.ptrace --suite short
refuses 'or -p POWER' compare two.flp -p two.ptrace
refuses 'block "left" is not in the floorplan' compare two.flp a.flp -p two.ptrace
refuses 'overlap' move a.flp --unit SM0 --by 1x0mm -o m.flp
[ ! -e m.flp ] || say an overlapping floorplan was written
refuses 'need 900 mm2' generate --sms 30 --die 24x24mm --sm-area 30
refuses 'did you mean "rotate"' rotat a.flp
refuses '--die 24y: expected' generate --sms 3 --die 24y
refuses '--place middle' generate --sms 3 --die 24x24mm --place middle
refuses 'cannot open' check none.flp

cat >ice.flp <<'I'
// two cores and a cache
Core0 : position 0, 0 ; dimension 3000, 2000 ; power values 1.0, 2.0 ;
Core1 : position 0, 2000 ; dimension 3000, 2000 ;
L2 : rectangle (3000, 0, 1000, 4000) ; power values 0.5, 0.5 ;
I
cat >ice.stk <<'I'
material SILICON : thermal conductivity 1.30e-4 ; volumetric heat capacity 1.628e-12 ;
material GLUE : thermal conductivity 4e-6 ; volumetric heat capacity 4e-12 ;
top heat sink : heat transfer coefficient 1.0e-7 ; temperature 318.15 ;
layer TIM : height 20 ; material GLUE ;
die CHIP : layer 100 SILICON ; source 2 SILICON ; layer 50 SILICON ;
dimensions : chip length 4000, width 4000 ; cell length 100, width 100 ;
stack : layer TOP TIM ; die LOGIC CHIP floorplan "./ice.flp" ;
solver : steady ; initial temperature 300.0 ;
I
f convert ice.flp -o i.flp && f check i.flp | grep -q '3 units tile 4 x 4 mm' || say 3D-ICE floorplan
f convert ice.stk -o stack
# names that are made up keep apart from those of elements, also of later ones
sed 's/^L2.*/L2 : rectangle (3000, 0, 1000, 1500) ; rectangle (3000, 1500, 1000, 1500) ;/; s/Core0/filler_0/; s/Core1/L2_1/' ice.flp |
  { cat; echo 'L2_1_ : position 3000, 3000 ; dimension 500, 500 ;'; } >named.flp
sed 's/ice.flp/named.flp/; s/cell length 100, width/cell length 300, width/' ice.stk >named.stk
f convert named.stk -o named 2>err.txt && [ "$(cut -f1 named/LOGIC.flp | tail -n +2 | tr '\n' ' ')" = "filler_0 L2_1 L2 L2_1__ L2_1_ filler_0_ filler_1 " ] ||
  say "made up names: $(cat err.txt named/LOGIC.flp)"
grep -q 'named.stk:6: cells of 300 x 100 um do not divide the chip: a grid of 40 x 13' err.txt || say "cells: $(cat err.txt)"
[ "$(grep -c '' stack/stack.lcf)" = 34 ] || say "layers: $(cat stack/stack.lcf)"
grep -A5 '^1$' stack/stack.lcf | tr '\n' ' ' | grep -q '^1 Y Y 1628000 0.007692307692307693 2e-06' || say "$(cat stack/stack.lcf)"
f check stack/LOGIC.flp >/dev/null

# the whole of a stack: sink, ambient, powers; it runs, goes out to 3D-ICE's format and comes back
tr '\t\n' '  ' <stack/stack.ptrace | grep -q '^Core0 Core1 L2 1 0 0.5 2 0 0.5 $' || say "powers: $(cat stack/stack.ptrace)"
grep -q '^-r_convec 0.625$' stack/stack.config || say "sink: $(cat stack/stack.config)"
sed -i 's/^-grid_rows.*/-grid_rows 8/; s/^-grid_cols.*/-grid_cols 8/' stack/stack.config
(cd stack && "$thermix" thermal -c stack.config --network physical --quiet -steady_file all.steady --precision 4)
grep -q '^hsink_die	319.400' stack/all.steady || say "2 W through 0.625 K/W: $(grep hsink stack/all.steady)"
(cd stack && f convert stack.config --to ice -o ../ice2) || say to ice
f convert ice2/stack.stk -o back
(cd back && "$thermix" thermal -c stack.config --network physical --quiet -steady_file all.steady --precision 4)
for unit in layer_1_Core0 layer_1_L2; do
  there=$(awk -v u=$unit '$1 == u { print $2 }' stack/all.steady) back=$(awk -v u=$unit '$1 == u { print $2 }' back/all.steady)
  awk -v a="$there" -v b="$back" 'BEGIN { d = a - b; exit !(a > 318 && d < 0.01 && d > -0.01) }' || say "$unit: $there, and from 3D-ICE $back"
done
f convert i.flp --to ice -o i2.flp && f convert i2.flp -o i3.flp && diff <(grep -v '^#' i.flp) <(grep -v '^#' i3.flp) || say a floorplan to 3D-ICE and back
refuses 'is a stack of 3D-ICE already' convert ice.stk --to ice -o out
refuses '-o DIR, a stack is several files' convert stack/stack.config --to ice
sed 's/, 0.5 ;/ ;/' ice.flp >few.flp
refuses 'few.flp:4: "L2" has 1 power values, those above have 2' convert few.flp -o out.flp
sed -i 's/source 2 SILICON/source 2 SILICN/' ice.stk
refuses 'ice.stk:5: expected a material defined above, got "SILICN"' convert ice.stk -o stack2
sed -i 's/SILICN/SILICON/' ice.stk

# Margins become blocks, so that the die keeps its size; an element outside the chip is refused.
sed 's/length 4000, width 4000/length 6000, width 5000/' ice.stk >wide.stk
f convert wide.stk -o wide && f check wide/LOGIC.flp | grep -q 'tile 6 x 5 mm' || say "margins: $(cat wide/LOGIC.flp)"
grep -q '^filler_0' wide/LOGIC.flp || say filler
sed 's/length 4000/length 3900/' ice.stk >narrow.stk
refuses 'an element lies outside the chip of 3900 x 4000 um' convert narrow.stk -o narrow
# A floorplan is looked for beside the stack, then in the current folder, as 3D-ICE does.
mkdir -p sub && cp ice.stk sub && f convert sub/ice.stk -o sub/out && [ -s sub/out/LOGIC.flp ] || say current folder
# Cooled from below, a stack is written upside down; from both sides it has a film on each face.
sed 's/^top heat/bottom heat/' ice.stk >below.stk
f convert below.stk -o below && [ "$(grep -c N below/stack.lcf)" = 3 ] || say bottom
diff <(grep -A5 '^3$' below/stack.lcf) <(grep -A5 '^0$' stack/stack.lcf | sed '1s/0/3/') || say upside down
{ cat ice.stk; echo 'bottom heat sink : heat transfer coefficient 3.0e-7 ; temperature 318.15 ;'; } >both.stk
f convert both.stk -o both && grep -q '^-r_below 0.208333' both/stack.config || say "both: $(cat both/stack.config)"
sed -i 's/^-grid_rows.*/-grid_rows 8/; s/^-grid_cols.*/-grid_cols 8/' both/stack.config
(cd both && "$thermix" thermal -c stack.config --network physical --quiet -steady_file all.steady --precision 4)
# 2 W: up through silicon, glue and film 0.048 + 0.312 + 0.625 K/W, down through silicon and film 0.024 + 0.208 K/W
awk '$1 ~ /^hsink_die/ { w = ($2 - 318.15) / 0.625; exit } END { exit !(w > 0.379 && w < 0.384) }' both/all.steady ||
  say "both: $(grep hsink both/all.steady)"
(cd both && f convert stack.config --to ice -o ../both2)
awk '/^bottom/ { getline; d = $4 / 3e-7 - 1; ok = d < 1e-9 && d > -1e-9 } END { exit !ok }' both2/stack.stk || say both, out
"$thermix" thermal -f stack/LOGIC.flp -p stack/stack.ptrace -r_below 1 2>err.txt && say "a film below in HotSpot's network"
grep -q "r_below: HotSpot's network has no film below" err.txt || say "$(cat err.txt)"
sed 's/temperature 318.15 ;$/temperature 300 ;/' both.stk >bad.stk && sed -i '3s/300/318.15/' bad.stk
refuses 'bad.stk:9: a sink at 318.15 K and one at 300 K' convert bad.stk -o out
sed 's/1.30e-4 ;/1.30e-4, 1.3e-4, 1.3e-4 ;/; s/"\.\/ice.flp"/& discretization 4 5/' ice.stk >fine.stk
f convert fine.stk -o fine && diff fine/stack.lcf stack/stack.lcf || say one conductivity thrice
sed 's/1.30e-4 ;/1.30e-4, 1.3e-4, 2e-4 ;/' ice.stk >bad.stk
f convert bad.stk -o turned && grep -q '^conductivity 130 130 200$' turned/stack.lcf || say "by direction: $(cat turned/stack.lcf)"
refuses 'layer 0 conducts differently by direction' convert turned/stack.config --to ice -o out
sed '/^Core0/s/; power/; material GLUE ; power/' ice.flp >mixed.flp
sed 's/ice.flp/mixed.flp/' ice.stk >mixed.stk
f convert mixed.stk -o mixed && awk '$1 == "Core0" { ok = $6 == 4e6 && $7 == 0.25 } END { exit !ok }' mixed/LOGIC.flp &&
  grep -q '^-detailed_3D on' mixed/stack.config || say "materials of elements: $(cat mixed/LOGIC.flp)"
sed 's/GLUE/GLEU/' mixed.flp >bad.flp && sed 's/mixed.flp/bad.flp/' mixed.stk >bad.stk
refuses 'expected a material of the stack, got "GLEU"' convert bad.stk -o out
refuses 'expected no material: convert the stack' convert mixed.flp -o out.flp
# Coolant: each kind is converted, runs, and leaves by its rise with all of the 2 W.
channel() { # KIND, what begins its block, its own lines, line of channels in the layer file
  sed "s/^dimensions/$2 : height 100 ; $3 coolant volumetric heat capacity 4.0e-12 ; coolant incoming temperature 300 ;\n&/
    s/^stack : .*/stack : die UPPER CHIP floorplan \"ice.flp\" ; channel WET ; die LOGIC CHIP floorplan \"ice.flp\" ;/; /^top heat/d" ice.stk >"$1.stk"
  f convert "$1.stk" -o "$1"
  grep -q "^channels $4" "$1/stack.lcf" || say "$1: $(cat "$1/stack.lcf")"
  [ "$1" = 4rm ] || sed -i 's/^-grid_cols.*/-grid_cols 8/' "$1/stack.config"
  sed -i 's/^-grid_rows.*/-grid_rows 8/' "$1/stack.config"
  (cd "$1" && head -2 stack.ptrace >one && mv one stack.ptrace &&
    "$thermix" thermal -c stack.config --network physical -steady_file all.steady >log 2>&1) || say "$1: $(cat "$1/log")"
  grep -q 'coolant leaves at 30.* with 3 W$' "$1/log" || say "$1: $(cat "$1/log")"
}
walls='channel length 50 ; wall length 50 ;' films='coolant heat transfer coefficient'
channel 2rm 'microchannel 2rm' "$walls wall material SILICON ; coolant flow rate 12 ; $films top 4.7e-8 , bottom 5.7e-8 ;" \
  'merged width 5e-05 pitch 0.0001 flow 2e-07 inlet 300 p 4000000 h_top 47000 h_bottom 57000 transport central'
channel 4rm 'microchannel 4rm' "$walls first wall length 25 ; last wall length 25 ; wall material SILICON ; coolant flow rate 12 ; $films 4e-8 ;" \
  'resolved width 5e-05 pitch 0.0001 first 2.5e-05 last 2.5e-05 flow 2e-07 inlet 300 p 4000000 h_top 40000 h_bottom 40000 h_side 40000'
for order in inline staggered; do
  channel "$order" pinfin "pin diameter 50 ; pin pitch 100 ; pin distribution $order ; pin material SILICON ; darcy velocity 5e5 ;" 'pins'
done
sed 's/pin pitch 100/pin pitch 40/' inline.stk >bad.stk
refuses 'pins of 50 um in a pitch of 40 um touch' convert bad.stk -o out
spoils() { # KIND, what sed does, the message
  sed "$2" "$1.stk" >bad.stk
  cmp -s "$1.stk" bad.stk && say "$1 not spoilt: $2"
  refuses "$3" convert bad.stk -o out
}
for kind in 2rm 4rm; do
  spoils $kind 's/channel length 50/channel length 5000/' 'no channel or pin of 5000 um and its walls fit in a chip of 4000 um'
  spoils $kind 's/flow rate 12/flow rate 0/' 'coolant flow rate = 0 must be above 0'
  spoils $kind 's/flow rate 12 ;/flow rate ;/' 'expected a number, got ";"'
  spoils $kind 's/wall length 50/wall length 0/' 'wall length = 0 must be above 0'
done
spoils inline 's/pin diameter 50/pin diameter 5000/; s/pin pitch 100/pin pitch 9000/' 'no channel or pin of 5000 um and its walls fit'
spoils inline 's/velocity 5e5/velocity -5e5/' 'darcy velocity = -500000 must be above 0'
spoils ice 's/1.30e-4 ;/-1.30e-4 ;/' 'bad.stk:1: thermal conductivity = -0.00013 must be above 0'
spoils ice 's/1.30e-4 ;/1.30e-4, 1.3e-4 ;/' 'bad.stk:1: expected k_x, k_y, k_z: a comma and k_z, got ";"'
spoils ice 's/1.30e-4 ;/1.30e-4, 1.3e-4, -2e-4 ;/' 'bad.stk:1: thermal conductivity = -0.0002 must be above 0'
refuses 'layer 3 has channels, which are not written' convert 2rm/stack.config --to ice -o out
sed '/^microchannel/d' 2rm.stk >bad.stk
refuses 'expected a microchannel or pinfin block above' convert bad.stk -o out
# A word that no rule allows is refused at its line; the few that have no effect here are printed.
unknown='expected material, heat sink, microchannel, pinfin, dimensions, layer, die, stack, solver or output'
spoils ice 's/^solver/solvr/' "bad.stk:8: $unknown, got \"solvr\""
spoils ice 's/^top/topp/' "bad.stk:3: $unknown, got \"topp\""
spoils ice '2s/material/materiel/' "bad.stk:2: $unknown, got \"materiel\""
spoils ice 's/^layer.*/& colour 3 ;/' "bad.stk:4: $unknown, got \"colour\""
spoils ice '$s/$/ x/' "bad.stk:8: $unknown, got \"x\""
spoils ice 's/^solver : steady/solver : stady/' 'bad.stk:8: expected steady or transient, got "stady"'
spoils ice 's/^solver : steady/solver : transient step 2, slot 1/' 'bad.stk:8: slot 1 s is shorter than step 2 s'
spoils ice 's/^dimensions/dimensions : &/' 'expected : chip length, got "dimensions"'
spoils ice '$p' 'bad.stk:9: block "solver" is given twice'
spoils ice '3p' 'bad.stk:4: expected one heat sink on a face, got "heat"'
spoils ice 's/source/layer/' 'has 0 sources, expected one'
spoils ice '0,/layer \([0-9]\)/s//source \1/' 'has 2 sources, expected one'
spoils ice '$s/$/ output : Tmp ( A, "a", slot ) ;/' "$unknown, got \"Tmp\""
{ sed 's/width 100 ;/& non-uniform true ;/' ice.stk; echo 'output : Tmap ( LOGIC, "t.txt", slot ) ; Tflp ( LOGIC, "u.txt", average, final ) ;'; } >skips.stk
f convert skips.stk -o skips 2>err.txt && grep -q 'skips.stk: skipped, without an effect here: non-uniform (line 6), output (line 9)' err.txt || say "$(cat err.txt)"
for key in 'position 0, 0' 'dimension 3000, 2000' 'power values 1.0, 2.0'; do
  sed "s/^Core0 : .*/& $key ;/" ice.flp >bad.flp
  refuses "bad.flp:2: Core0: ${key%% *} is given twice" check bad.flp
done
f check ice.flp >/dev/null 2>err.txt && grep -q 'ice.flp: no power values, so 0 W (3D-ICE stops there): Core1 (line 3)' err.txt || say "$(cat err.txt)"
# A number in another unit than 3D-ICE's is refused at its line, and so are cells that no grid has.
spoils ice '1s/1.30e-4/130/' 'bad.stk:1: conductivity = 130 W/(um K) is far outside 1.5e-08 to 0.004 W/(um K); is it 130 W/(m K)'
spoils ice '1s/1.628e-12/1.628e6/' 'is it 1.628e+06 J/(m3 K) = 1.628e-12 J/(um3 K)?'
spoils ice '3s/1.0e-7/1e5/' 'is it 100000 W/(m2 K) = 1e-07 W/(um2 K)?'
spoils ice '3s/318.15/45/' 'is it 45 degC = 318.15 K?'
spoils ice '5s/layer 100/layer 100e-6/' 'bad.stk:5: height = 0.0001 um is far outside'
spoils ice 's/cell length 100/cell length 0.1/' 'bad.stk:6: cells of 0.1 x 100 um: a grid of 40 x 40000, expected 1 to 4096 each way'
spoils ice 's/cell length 100/cell length 5000/' 'a grid of 40 x 0.8'
# What the format to be written has no words for is printed; a pipe is not read twice, and a unit is no other.
f convert ice.flp -o i.flp 2>err.txt && grep -qF 'ice.flp: skipped, without an effect here: power values (line 2)' err.txt || say "$(cat err.txt)"
f convert mixed/LOGIC.flp --to ice -o i2.flp 2>err.txt && grep -qF 'the material of "Core0" is not written' err.txt || say "$(cat err.txt)"
refuses 'expected one in place of standard input' show - <i.flp
refuses '--unit and --with are both Core0' swap i.flp --unit Core0 --with Core0
# 3D-ICE 2.x: a sink and a spreader, plates of their own size.
sed 's|^top heat sink.*|heat sink : sink height 6900, area 3.6e9, material GLUE ; spreader height 1000, area 9e8, material SILICON ;\
  heat transfer coefficient 1.0e-7 ; ambient temperature 318.15 ;|' ice.stk >old.stk
f convert old.stk -o old
for line in '-s_spreader 0.03' '-t_spreader 0.001' '-k_spreader 130' '-s_sink 0.06' '-t_sink 0.0069' '-k_sink 4' '-p_sink 4000000' '-r_convec 0.002777777777777778'; do
  grep -qxF -- "$line" old/stack.config || say "no $line in $(cat old/stack.config)"
done
sed 's/spreader height 1000, area 9e8, material SILICON ;//' old.stk >one.stk
f convert one.stk -o one
(cd one && "$thermix" thermal -c stack.config -grid_rows 8 -grid_cols 8 --network physical --quiet -steady_file one.steady && grep -qxF -- '-s_spreader 0.06' stack.config && grep -qxF -- '-t_sink 0.00621' stack.config) || say "a sink without a spreader: $(cat one/stack.config)"
sed 's/area 9e8/area 9e6/' old.stk >bad.stk
refuses 'a spreader of 9 mm2 and a sink of 3600 mm2 on a chip of 4000 x 4000 um' convert bad.stk -o out
# Parts of a layer of another material: all of it is as if the layer was of that one.
echo 'material SILICON : thermal conductivity 1.5e-6 ; volumetric heat capacity 2e-12 ; SILICON : rectangle (0, 0, 4000, 1000) ; rectangle (0, 1000, 4000, 3000) ;' >whole.lay
sed 's/^layer.*/& layout "whole.lay" ;/; s/cell length 100, width 100/cell length 500, width 500/' ice.stk >laid.stk
sed '2s/4e-6/1.5e-6/' laid.stk | sed 's/layout.*//' >plain.stk
for stk in laid plain; do
  f convert $stk.stk -o $stk
  (cd $stk && "$thermix" thermal -c stack.config --network physical --quiet -steady_file ../$stk.steady --precision 6)
done
awk 'FNR == NR { if ($1 ~ /^layer_1_/) a[$1] = $2; next } $1 in a { d = $2 - a[$1]; n++; if (d > 1e-5 || d < -1e-5) exit n = 0 } END { exit n != 3 }' plain.steady laid.steady ||
  say "a layout of the whole layer: $(grep layer_1_ plain.steady) and $(grep layer_1_ laid.steady)"
sed 's/whole.lay/none.lay/' laid.stk >bad.stk
refuses 'bad.stk:4: layout: none.lay: cannot open' convert bad.stk -o out
sed 's/^SILICON/GLASS/; s/ SILICON : rec/ GLASS : rec/' whole.lay >bad.lay && sed 's/whole.lay/bad.lay/' laid.stk >bad.stk
refuses 'bad.lay:1: expected a material of the stack, got "GLASS"' convert bad.stk -o out
sed 's/die CHIP : layer 100 SILICON/die CHIP : layer TIM/' ice.stk >named.stk # a die's layer by its name
f convert named.stk -o named && grep -A5 '^2$' named/stack.lcf | tr '\n' ' ' | grep -q '^2 Y N 4000000 0.25 1.9999999999999998e-05' || say "$(cat named/stack.lcf)"
# Still air on a bare die is a large resistance, and own output is accepted.
sed '3s/1.0e-7/1.0e-11/' ice.stk >still.stk
f convert still.stk -o still
(cd still && "$thermix" thermal -c stack.config -grid_rows 8 -grid_cols 8 --network physical --quiet -steady_file all.steady 2>../err.txt) || say "still air: $(cat err.txt)"
grep -E 'r_convec|is it' err.txt && say "a doubt about still air"
# What HotSpot's files have and a stack has not is printed or refused.
printf '0\nN\nY\n1.75e6\n0.01\n0.00015\ni.flp\n' >flat.lcf
refuses 'layer 0 conducts nothing sideways' convert flat.lcf --to ice -o out
printf '%s\n' '-f i.flp' '-leakage_used 1' '-s_sink 0.061' >lossy.config
f convert lossy.config --to ice -o lossy 2>err.txt && grep -q 'not written: c_convec = 140.4 J/K, leakage_used; 3D-ICE.s layers have one size' err.txt || say "$(cat err.txt)"
# Nothing is swallowed, doubled or written elsewhere.
sed 's/die LOGIC/die "..\/escaped"/' ice.stk >bad.stk
refuses 'bad.stk:7: die "../escaped": a file is named after it' convert bad.stk -o out
[ ! -e escaped.flp ] || say "written outside the folder"
sed 's/die LOGIC/die die/' ice.stk >named.stk
f convert named.stk -o named && grep -q '^Core0' named/die.flp && grep -q '^die_.flp' named/stack.lcf || say a die called die
sed 's/^stack : .*/& die LOGIC CHIP floorplan "ice.flp" ;/' ice.stk >bad.stk
refuses 'bad.stk:7: die "LOGIC" is given twice' convert bad.stk -o out
sed '2{p}' ice.stk >bad.stk
refuses 'bad.stk:3: material "GLUE" is given twice' convert bad.stk -o out
sed 's/^top heat sink.*/top pluggable heat sink : plugin "p.so", "" ;/' ice.stk >bad.stk
refuses 'pluggable ones are not supported' convert bad.stk -o out
{ cat ice.flp; echo '/* open'; } >bad.flp
refuses 'bad.flp:5: this comment has no end' convert bad.flp -o out.flp
{ cat ice.flp; echo '"open'; } >bad.flp
refuses 'bad.flp:5: this quotation has no end' convert bad.flp -o out.flp
{ cat ice.flp; echo '"" : position 0, 0 ;'; } >bad.flp
refuses 'bad.flp:5: empty quotation' check bad.flp
sed 's/power values 1.0, 2.0 ;/power values 1.0/' ice.flp >bad.flp
refuses 'bad.flp:3: expected ;, got "Core1"' convert bad.flp -o out.flp
sed 's/L2 :/& position 1, 1 ;/' ice.flp >bad.flp
refuses 'has rectangles, and a position or dimension beside them' convert bad.flp -o out.flp
printf 'a 4e-6 0.5 2 1\nb 4e-6 0.5 2 1\nc 8e-6 1 1 0\na b 1\n' >o.desc
printf 'a 4\nb 4\nc 1\n' >o.p
printf '%s\n' '-r_convec 0.2' '-Rcool 0.8' '-grid_rows 16' '-grid_cols 16' >o.config
f optimise o.desc -p o.p -c o.config -o o.flp --format csv 2>/dev/null >o.csv || say optimise
[ "$(wc -l <o.csv)" = 3 ] && f check o.flp >/dev/null || say what optimise wrote
f optimise o.desc -p o.p -c o.config -o - 2>/dev/null | cmp - o.flp || say optimise, repeated
f optimise -f o.desc -p o.p -c o.config -o - 2>/dev/null | cmp - o.flp || say "optimise with the options of hotfloorplan"
sed 2d o.p >less.p
refuses 'less.p:2: block "b" of o.desc has no power' optimise o.desc -p less.p -c o.config
printf '%s 4e-6 0.5 2 1\n' a b c d e >five.desc && printf '%s 1\n' a b c d e >five.p && sed 's/16/2/' o.config >five.config
f optimise five.desc -p five.p -c five.config -o - 2>err.txt >/dev/null
grep -q 'warning: five.desc: a grid of 2 x 2 cells is too coarse' err.txt || say "a warning of no file"
refuses 'expected one .desc or .flp, and --power' optimise o.desc
refuses 'is of optimise' check -f o.desc
refuses "a chip's .flp, and --suite" optimise o.desc -p o.p --for slowdown
refuses 'are of floorplans' optimise o.desc -p o.p --stay a
refuses 'unknown option "-lambdaQ"' optimise o.desc -p o.p --set lambdaQ=1
head -2 o.p >short.p
refuses 'short.p:2: block "c" of o.desc has no power' optimise o.desc -p short.p -c o.config
{ cat o.config; echo '-Kmoves 1e6'; } >long.config
refuses 'moves of 3 blocks (Kmoves 1e+06' optimise o.desc -p o.p -c long.config
f show a.flp --format csv | awk -F, 'NR > 1 { print $1, 1 }' >a.p
refuses 'no two units of one size and different power' optimise a.flp -p a.p

echo "floorplans: made, changed, imported; bad ones refused"
