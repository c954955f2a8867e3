#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# injection.sh THERMIX: names from files of others, and odd names of folders, stay names on the way through
# tables, gnuplot, SVG, HTML and the shell.
set -u
thermix=$1
scripts=$(cd "$(dirname "$0")/../../plots/scripts" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
say() { echo "FAILED: $*"; failed=1; }
evil="a';system('touch PWNED1');b='<script>alert(1)</script>"
tick='`touch PWNED2`$(touch PWNED3);|touch PWNED4'
cat > evil.cfg <<CFG
name = "$evil";
kernels = ( { kernel = "SVM"; work_s = 0.5; }, { kernel = "Cmem"; work_s = 0.5; } );
CFG
cat > run.cfg <<CFG
chip = "gtx280"; mix = "./evil.cfg"; seed = 1; tick_s = 0.01; quantum_s = 0.05; rows = 8; cols = 8;
CFG
"$thermix" run ./run.cfg -q -o 'r 1' --trace 0.1 --hotspot 0.1 || say run
sed "s/name = .*/name = \"=$tick\";/" evil.cfg > tick.cfg
"$thermix" run ./run.cfg -q -o 'r 2' --set mix=./tick.cfg --trace 0.1 --hotspot 0.1 || say run with backticks
grep -q "'=.touch" 'r 2/summary.csv' || say "a spreadsheet would run the name"
printf "mix,policy,slowdown_pct,energy_j\n\"m'\",\"';system('touch PWNED5');x='\",1,2\nm2,\"DVFS 85/83\",2,1\n=cmd,@x,3,3\n" > table.csv
mkdir -p 't;touch PWNED6;' && cp table.csv 't;touch PWNED6;/table.csv'
"$thermix" report 'r 1' -o page.html > /dev/null || say report of a run
grep -q '<script>alert(1)</script>' page.html && say "a name is HTML"
"$thermix" report 't;touch PWNED6;' -o page2.html > /dev/null || say report of a table
if command -v gnuplot > /dev/null; then
  "$thermix" plot 'r 1' -q -o 'p;touch PWNED7;' || say plot of a run
  "$thermix" plot 'r 2' -q -o 'p`touch PWNED9`' || say plot of the other run
  "$thermix" plot 't;touch PWNED6;' -q -o "q 8" || say plot of a table
  "$thermix" plot 'r 1' -q -o "o';system('touch PWNED8');x='" || say "a quote in a folder's name"
  [ -s "o';system('touch PWNED8');x='/heatmap.svg" ] || say "no figures in a folder with a quote"
  ls q\ 8/*.svg > /dev/null || say no figures
  grep -h '<script>alert' p*/*.svg && say "a name is SVG"
fi
if command -v ffmpeg > /dev/null && command -v gnuplot > /dev/null; then # a name is no option, protocol, pattern or command of ffmpeg's
  film='-x:b;touch PWNED10;%d.gif'
  "$thermix" animate 'r 1' -n 2 -o "$film" > /dev/null || say "film $film"
  [ -s "./$film" ] || say "no film $film"
fi
# A name with every metacharacter there is, in results of others, through every command that draws or reports.
all=$(printf '%s' "x';touch\${IFS}PWNED_all;'\"\`touch PWNED_tick\`\$(touch PWNED_sub)|touch PWNED_pipe;<touch PWNED_in;&>*?~#%%s%n\\n@{^_},<script>alert(1)</script>")
quoted=$(printf '%s' "$all" | sed 's/"/""/g')
mkdir fc single
printf 'floorplan,mixes,peak_temp_c,gradient_c,slowdown_pct,energy_j\n"%s",1,80,5,2,1000\nb.flp,1,82,6,3,1100\n' "$quoted" > fc/table.csv
printf 'floorplan,unit,left_mm,right_mm,bottom_mm,top_mm,mean_temp_c\n"%s","%s",0,5,0,5,70\nb.flp,SM0,0,5,0,5,75\n' "$quoted" "$quoted" > fc/units.csv
{ echo "mix,policy,variant,slowdown_pct,improvement_over_bl_pct,energy_j"
  for v in "$quoted" other; do for m in "$quoted" mean; do for p in BL "$quoted" MNU; do printf '"%s","%s","%s",2,3,1000\n' "$m" "$p" "$v"; done; done; done; } > single/table.csv
mkdir gate
{ echo "policy,kernel,bet,wakeup,fit,slowdown_pct,int_saved_pct"
  for p in none gates; do printf '%s,"%s",14,3,"%s",3,20\n' "$p" "$quoted" "$quoted"; done; } > gate/table.csv
printf 'paper,figure,quantity,case,unit,paper_value,ours\n001,Figure 10,"%s","%s",percent,1.5,3\n' "$quoted" "$quoted" > gate/paper.csv
printf 'name = "s"; base = "run.cfg";\naxes = ( { key = "mix"; values = ["./evil.cfg", "./tick.cfg"]; } );\n' > names.cfg
"$thermix" sweep ./names.cfg -q -o '<touch PWNED_db;.sqlite' -j 1 > /dev/null || say "sweep into an odd name"
"$thermix" query '<touch PWNED_db;.sqlite' > /dev/null || say query
for format in csv markdown json latex; do
  "$thermix" query '<touch PWNED_db;.sqlite' --format $format -o '|touch PWNED_query;.txt' || say "query --format $format"
done
short="x';touch\${IFS}PWNED_s;\\\"\`touch PWNED_t\`|<&\$(touch PWNED_u)" # a mix's name is no longer than 63 characters
{ printf 'name = "%s";\n' "$short"; tail -n 1 evil.cfg; } > all.cfg
cat > '<touch PWNED_suite;.cfg' <<CFG
name = "s"; kind = "tabs"; base = { chip = "gtx280"; seed = 1; tick_s = 0.05; rows = 8; cols = 8; };
mixes = ["./all.cfg", "./tick.cfg"]; policies = ("BL", "DVFS"); baseline = "BL"; compare = "DVFS";
CFG
"$thermix" table './<touch PWNED_suite;.cfg' -q -j 1 -o '|touch PWNED_table;' > /dev/null || say table
[ -s '|touch PWNED_table;/table.csv' ] || say "no table"
"$thermix" query '|touch PWNED_table;' > /dev/null || say "query of a suite"
mkdir '<touch PWNED_chip;' && cp "$THERMIX_DATA"/floorplans/gtx280/* '<touch PWNED_chip;/'
cp "$THERMIX_DATA/floorplans/gtx280/centre.flp" '|touch PWNED_flp;.flp'
"$thermix" floorplan compare './|touch PWNED_flp;.flp' '<touch PWNED_chip;/edges.flp' --suite './<touch PWNED_suite;.cfg' \
  -j 1 -o '`touch PWNED_compare`' > /dev/null 2> err.txt || say "floorplan compare: $(cat err.txt)"
[ -s '`touch PWNED_compare`/table.csv' ] || say "no table of floorplans"
"$thermix" budget './<touch PWNED_chip;' --limit 88 --map best -o '|touch PWNED_maps;.svg' > /dev/null || say budget
[ -s '|touch PWNED_maps;.svg' ] || say "no maps"
log_of() { # log_of NAME: the name is a GPU and a column that has no use
  printf 'time_s,gpu,power_w,temp_c,"%s"\n' "$1"
  name=$1 awk -F ', ' 'NR > 1 { sub(" W", "", $3); print NR - 2 ",\"" ENVIRON["name"] "\"," $3 "," $4 ",1" }' "$THERMIX_DATA/docs/examples/measured/card.csv"
}
log_of "$quoted" > long.csv # a name that did not fit gave "no fit"
"$thermix" calibrate long.csv -o long > /dev/null 2> err.txt && say "calibrate takes a name of 170 characters"
grep -q 'a name longer than 63 characters' err.txt || say "a long name: $(cat err.txt)"
log_of "${short//\\\"/}" > '<touch PWNED_log;.csv'
"$thermix" calibrate './<touch PWNED_log;.csv' -q -o '|touch PWNED_fit;' > /dev/null 2> err.txt || say "calibrate: $(cat err.txt)"
"$thermix" replay './|touch PWNED_fit;' './<touch PWNED_log;.csv' -q > /dev/null 2> err.txt || say "replay: $(cat err.txt)"
"$thermix" run ./run.cfg -q -o 'r 3' --set mix=./all.cfg --trace 0.1 --hotspot 0.1 || say "run of the name"
if command -v ffmpeg > /dev/null && command -v gnuplot > /dev/null; then
  "$thermix" animate 'r 3' -n 2 -o '|touch PWNED_film;.gif' > /dev/null || say "animate of the name"
  [ -s '|touch PWNED_film;.gif' ] || say "no film of the name"
fi
if command -v gnuplot > /dev/null; then
  "$thermix" plot '|touch PWNED_table;' -q -o 'f of a table' || say "plot of a suite"
  "$thermix" plot '`touch PWNED_compare`' -q -o 'f of floorplans' || say "plot of floorplans"
  for of in fc single '<touch PWNED_db;.sqlite' 'r 1' 'r 2'; do
    from="<touch PWNED_from;${of##*;}" && cp -r "$of" "$from" && of=$from
    case $of in *' 2') to="out'; touch PWNED_to; '" ;; *fc | *lite) to='<touch PWNED_to;' ;; *) to='|touch PWNED_to;' ;; esac
    "$thermix" plot "$of" -q -o "$to" 2> err.txt || say "plot $of -o $to"
    ls "$to"/*.svg > /dev/null || say "no figures in $to"
    grep -l '<script>alert' "$to"/*.svg && say "a name is SVG in $to"
    "$thermix" report "$of" -o '|touch PWNED_page;.html' > /dev/null 2> err.txt || say "report $of"
    grep -q '<script>alert(1)</script>' '|touch PWNED_page;.html' && say "a name is HTML of $of"
    rm -r "$of"
  done
  "$thermix" plot gate -q -o gate_figures --figure fig10 2> err.txt || say "plot of a gate table: $(cat err.txt)"
  "$thermix" explain ./run.cfg -o '<touch PWNED_explain;.svg' > /dev/null || say explain
  [ -s './<touch PWNED_explain;.svg' ] || say "no figure of explain"
fi
grep -nE 'system *\(|`|["'"'"'] *[<|]|^ *!|shell|popen' "$scripts"/*.gp && say "a script starts a program"
cat > study.cfg <<CFG
name = "s'; DROP TABLE run; --"; base = "run.cfg";
axes = ( { key = "policy"; values = ["BL", "A"]; } );
CFG
"$thermix" sweep ./study.cfg -q -o "s '1.sqlite" -j 1 || say sweep
"$thermix" query "s '1.sqlite" --where "policy=BL' OR 1=1 --" --rows policy --value energy_j > /dev/null 2>&1 && say where
"$thermix" query "s '1.sqlite" --rows policy --value energy_j > q.txt || say query
[ "$(grep -c . q.txt)" -ge 3 ] || say "query lost rows"
# A terminal obeys no name: control characters are shown, in messages and in tables.
esc=$(printf 'x\033]0;evil\007\302\233y')
for words in "run ./$esc.cfg" "check ./$esc.cfg" "plot ./$esc -o f" "floorplan check ./$esc.flp"; do
  "$thermix" $words > out.txt 2> err.txt
  grep -q '\^\[\]0;evil\^G' err.txt out.txt || say "$words shows no name: $(cat -v err.txt)"
  LC_ALL=C grep -q "$(printf '[\033\007\233]')" err.txt out.txt && say "$words sends control characters"
done
mkdir terminal && cp "$THERMIX_DATA/floorplans/gtx280/gtx280.flp" "terminal/$esc.flp"
log_of "$esc" > "terminal/$esc.csv"
for words in "floorplan check terminal/$esc.flp" "log show terminal/$esc.csv" "calibrate terminal/$esc.csv -o cal" \
  "replay cal terminal/$esc.csv" "run ./run.cfg -q --set fan_failures=[\"$esc\"]"; do
  "$thermix" $words > out.txt 2> err.txt
  grep -q '\^\[\]0;evil\^G' err.txt out.txt || say "$words shows no name: $(cat -v err.txt)"
  LC_ALL=C grep -q "$(printf '[\033\007]\|\302\233')" err.txt out.txt && say "$words sends control characters"
done
find . -name "PWNED*" | grep . && say "a name was run"
exit $failed
