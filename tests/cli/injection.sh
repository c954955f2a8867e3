#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# injection.sh THERMIX: names from files of others, and odd names of folders, stay names on the way through
# tables, gnuplot, SVG, HTML and the shell.
set -u
thermix=$1
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
chip = "gtx280"; mix = "./evil.cfg"; seed = 1; tick_s = 0.01; quantum_s = 0.05; rows = 16; cols = 16;
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
  "$thermix" plot 'r 1' -q -o "o';system('touch PWNED8');x='" 2> /dev/null && say "a quote in a folder's name was taken"
  ls q\ 8/*.svg > /dev/null || say no figures
  grep -h '<script>alert' p*/*.svg && say "a name is SVG"
fi
if command -v ffmpeg > /dev/null && command -v gnuplot > /dev/null; then # a name is no option, protocol or command of ffmpeg's
  for film in '-x.gif' 'a:b;touch PWNED10;.gif'; do
    "$thermix" animate 'r 1' -n 2 -o "$film" > /dev/null || say "film $film"
    [ -s "./$film" ] || say "no film $film"
  done
  "$thermix" animate 'r 1' -n 2 -o 'a%d.gif' > /dev/null 2>&1 && say "a pattern was taken for a name"
fi
cat > study.cfg <<CFG
name = "s'; DROP TABLE run; --"; base = "run.cfg";
axes = ( { key = "policy"; values = ["BL", "A"]; } );
CFG
"$thermix" sweep ./study.cfg -q -o "s '1.sqlite" -j 1 || say sweep
"$thermix" query "s '1.sqlite" --where "policy=BL' OR 1=1 --" --rows policy --value energy_j > /dev/null 2>&1 && say where
"$thermix" query "s '1.sqlite" --rows policy --value energy_j > q.txt || say query
[ "$(grep -c . q.txt)" -ge 3 ] || say "query lost rows"
ls PWNED* */PWNED* 2> /dev/null && say "a name was run"
exit $failed
