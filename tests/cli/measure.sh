#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Measured logs from outside: show, calibrate, replay, what-ifs, and what is refused.    measure.sh THERMIX ROOT [--long]
set -uo pipefail
thermix=$1 data=$2/workloads/measured
export THERMIX_DATA=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
say() { echo "FAILED: $*"; exit 1; }

# a card in a box: R_j 0.06, sink 0.2 K/W and 300 J/K, air of 25 degC, readings in whole degrees
awk 'BEGIN { x = 5; print "timestamp, index, power.draw [W], temperature.gpu"
  for (i = 0; i < 480; i++) { p = i < 60 || i >= 300 ? 25 : i < 180 ? 250 : 120
    x += (p * 0.2 - x) / 60; t = 25 + 0.06 * p + x
    printf "2025/01/07 12:%02d:%02d.000, 0, %.1f W, %d\n", i / 60, i % 60, p, t + 0.5 } }' >card.csv
"$thermix" log show card.csv >show.txt || say "log show"
grep -q 'nvidia-smi --query-gpu' show.txt || say "format not told: $(head -1 show.txt)"
grep -q 'power_w from "power.draw \[W\]"' show.txt || say "columns not told"
"$thermix" calibrate card.csv -o cal >cal.txt 2>err.txt || say "calibrate: $(cat err.txt)"
for f in fit.csv residuals.csv how.txt node.cfg chips/gpu0/chip.cfg chips/gpu0/package.config; do [ -s "cal/$f" ] || say "no $f"; done
# the node runs wherever its folder is moved
mkdir moved && cp -r cal moved/away
sed 's/work_s = [0-9.]*/work_s = 10.0/' "$THERMIX_DATA/workloads/mixes/burn1.cfg" >brief.cfg
echo 'topology = "away/node.cfg"; mix = "burn1"; seed = 1; tick_s = 0.05; quantum_s = 0.1; sensor = { period_s = 0.1; };' >moved/run.cfg
grep -q 'noise_dba = 0.0; stand_in = true;' moved/away/node.cfg || say "a fan that no log tells is not marked"
"$thermix" run moved/run.cfg --set stuck_s=5000 --set mix=./brief.cfg --trace 1 -q -o moved/out || say "the moved node does not run"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } FNR > 1 && ($c["mean_rpm"] != 0 || $c["peak_noise_dba"] != 0) { exit 1 }' moved/out/summary.csv || say "rpm and noise that nobody measured"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } FNR > 1 && ($c["mean_fan_rpm"] != "" || $c["mean_inlet_c"] < 20) { exit 1 }' moved/out/gpus.csv || say "a fan's rpm that nobody measured"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } FNR > 1 && $c["fan_rpm"] != "" { exit 1 }' moved/out/trace.csv || say "a fan's rpm in the trace that nobody measured"
(cd / && "$thermix" check "$dir/moved/run.cfg" >/dev/null) 2>err.txt || say "a calibrated node that was moved: $(cat err.txt)"
"$thermix" check wl1 --set topology=moved/away/node.cfg >shown.cfg 2>err.txt || say "the words of \`thermix run cal\`: $(cat err.txt)"
! grep -q '^chip = ' shown.cfg || say "a chip beside the node that replaced it"
# a cap on its one level would cost no time, and nobody knows what its fans do when they fail: both are refused
cap='--set=dtm={policy="boost";power_cap_w=150.0;}'
"$thermix" run moved/run.cfg --set mix=./brief.cfg --set stuck_s=5000 "$cap" -q 2>err.txt && say "a cap on one level"
grep -q 'one clock level' err.txt || say "a cap on one level: $(cat err.txt)"
"$thermix" run moved/run.cfg --set mix=./brief.cfg --set stuck_s=5000 '--set=fan_failures=({fan="fan0";at_s=1.0;})' -q 2>err.txt && say "a stand-in that fails"
grep -q 'fan0 stands for fans' err.txt || say "a stand-in that fails: $(cat err.txt)"
"$thermix" check moved/run.cfg --set mix=./brief.cfg '--set=fan_failures=({fan="fan0";at_s=1.0;})' --accept >/dev/null 2>err.txt || say "a stand-in that fails, accepted: $(cat err.txt)"
"$thermix" calibrate card.csv -o leveled --levels gtx280 --no-figures --no-check -q >out.txt 2>err.txt || say "--levels: $(cat err.txt)"
mkdir -p moved2 && mv leveled moved2/away && cp moved/run.cfg moved2
"$thermix" run moved2/run.cfg --set mix=./brief.cfg --set stuck_s=5000 -q -o moved2/free || say "a node with levels"
"$thermix" run moved2/run.cfg --set mix=./brief.cfg --set stuck_s=5000 "$cap" -q -o moved2/capped 2>err.txt || say "a cap on a node with levels: $(cat err.txt)"
makespan() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR == 2 { print $c["makespan_s"] }' "moved2/$1/summary.csv"; }
awk -v a="$(makespan free)" -v b="$(makespan capped)" 'BEGIN { exit !(b > 1.02 * a) }' || say "a cap costs no time: $(makespan free), $(makespan capped)"
# the air of a node: as fitted; absolute, or above its own
grep -q '^inlet_c = 25.1;  # fitted to the log$' moved/away/node.cfg || say "the node's air: $(grep inlet_c moved/away/node.cfg)"
for how in inlet_c=33 inlet_c=33C inlet_c=306.15K inlet_c=+8 inlet_c=+8K inlet_plus_k=8; do
  "$thermix" run moved/run.cfg --set mix=./brief.cfg --set stuck_s=5000 --set $how -q -o moved/warm || say "$how"
  case $how in *8*) want=33.1 ;; *) want=33 ;; esac
  awk -F, -v want=$want 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR == 2 { ok = $c["mean_inlet_c"] > want - 0.01 && $c["mean_inlet_c"] < want + 0.01 } END { exit !ok }' moved/warm/summary.csv || say "$how: the air is not $want degC"
done
near() { # near NAME VALUE SHARE: the fitted value
  awk -F, -v n="$1" -v v="$2" -v s="$3" '$1 == n { d = ($4 - v) / v; if (d < 0) d = -d; ok = d <= s; got = $4 }
    END { if (!ok) { print n " is " got ", expected " v; exit 1 } }' cal/fit.csv || say "fit"
}
near junction_k_per_w 0.06 0.1
near sink_k_per_w 0.2 0.05
near sink_j_per_k 300 0.05
grep -q '^fan law,' cal/fit.csv || say "a fan law that no log tells is not named"
grep -q 'this fan curve only' cal.txt || say "no word of the fan curve"

for how in inlet_c=32 inlet_c=32C inlet_c=305.15K; do "$thermix" replay cal card.csv --set $how -q --format csv; done >same.csv || say "32C in replay"
[ "$(sort -u same.csv | wc -l)" = 2 ] || say "32, 32C and 305.15K differ: $(cat same.csv)"
"$thermix" replay cal card.csv --ambient 24C -o errors.csv >/dev/null 2>&1 || say "--ambient 24C"
"$thermix" replay cal card.csv --ambient fit -o errors.csv >replay.txt 2>err.txt || say "replay"
[ "$(head -1 errors.csv)" = "run,gpu,rows,rmse_k,bias_k,max_abs_k" ] || say "columns: $(head -1 errors.csv)"
awk -F, 'NR == 2 && $3 == 480 && $4 < 0.4 { ok = 1 } END { exit !ok }' errors.csv || say "replay: $(cat errors.csv)"
grep -q "calibration's watts" err.txt && say "the same column is another one"
sed '1s/power.draw /power.draw.instant /' card.csv >instant.csv
"$thermix" replay cal instant.csv --ambient 25 >replay.txt 2>err.txt || say "replay of another column"
grep -q 'calibration.s watts are the column "power.draw \[W\]", this log.s "power.draw.instant \[W\]"' err.txt || say "another column of watts is not told: $(cat err.txt)"
# what-ifs: 5 K more air is 5 K more chip; a cap lowers it
"$thermix" replay cal card.csv --ambient 25 --set inlet_c=30 --format csv >warm.csv || say "what-if inlet"
awk -F, 'NR == 2 { d = $5 - $4; ok = d > 4.99 && d < 5.01 } END { exit !ok }' warm.csv || say "inlet: $(cat warm.csv)"
"$thermix" replay cal card.csv --ambient 25 --set inlet_c=+5 --format csv | cmp - warm.csv || say "what-if inlet_c=+5 is not inlet_c=30"
if command -v gnuplot >/dev/null; then # the what-if is in its figure, with a band of the prediction's error
  "$thermix" replay cal card.csv --ambient 25 --set inlet_c=+5 --figures if -o if.csv >/dev/null || say "what-if figures"
  awk -F, 'NR == FNR { if (FNR == 2) e = $8; next } FNR > 1 { if ($6 - $5 < 4.99 || $6 - $5 > 5.01 || $8 - $7 < 3.919 * e || $8 - $7 > 3.921 * e) bad = 1; n++ } END { exit bad || n != 480 }' \
    if.csv if/data/card.csv || say "the what-if's figure: $(cat if.csv; head -3 if/data/*.csv)"
  grep -q 'with inlet_c=+5 (dashed)' if/card.svg || say "the figure does not name the what-if"
fi
"$thermix" replay cal card.csv --set power_cap_w=100 --format csv >cap.csv || say "what-if cap"
"$thermix" replay cal card.csv --set power_scale=3 >/dev/null 2>err.txt && grep -q 'reaches [0-9]* W, the calibration.s log' err.txt || say "three times the log's watts: $(cat err.txt)"
"$thermix" replay cal card.csv --set power_cap_w=2 >/dev/null 2>err.txt && grep -q 'a cap of 2 W: no GPU of the log ever draws less than' err.txt || say "a cap below idle: $(cat err.txt)"
awk -F, 'NR == 2 { ok = $5 < $4 - 20 } END { exit !ok }' cap.csv || say "cap: $(cat cap.csv)"
# the same bytes again
"$thermix" calibrate card.csv -o again -q >again.txt && cmp -s cal/fit.csv again/fit.csv || say "a second fit differs"
# a given ambient is taken as it is
# a chip whose whole resistance is in its sink gives a node that runs, without a word of implausible numbers
awk 'BEGIN { print "time_s,power_w,temp_c"; t = 24; for (i = 0; i < 600; i++) { p = i < 60 || i >= 400 ? 60 : 600; printf "%d,%d,%.0f\n", i, p, t; t += (24 + 0.05 * p - t) * (1 - exp(-1 / 33)) } }' >sink.csv
"$thermix" calibrate sink.csv -o sink --no-figures --no-check -q >out.txt 2>err.txt || say "calibrate of a sink alone: $(cat err.txt)"
"$thermix" place sink --limit 60 --power 600 >out.txt 2>err.txt && [ ! -s err.txt ] && grep -q 'carries 1 job' out.txt || say "a node without a junction: $(cat out.txt err.txt)"
"$thermix" calibrate card.csv -o given --ambient 25 -q --no-figures >given.txt || say "calibrate --ambient 25"
awk -F, '$1 == "air_rise_k" { ok = $4 > -1 && $4 < 1 } END { exit !ok }' given/fit.csv || say "ambient 25: $(grep air_rise given/fit.csv)"
# a log far above what was trained is told, and so is a training of little span
awk -F, 'NR == 1 || $3 + 0 < 130' card.csv >light.csv
"$thermix" calibrate light.csv -o light --no-figures >out.txt 2>err.txt || say "calibrate of light loads"
grep -q 'W only' err.txt && say "a span of 25 to 120 W is called narrow"
"$thermix" replay light card.csv >out.txt 2>err.txt || say "replay of a heavier load"
grep -q 'reaches 250 W, the calibration.s log 25 to 120 W' err.txt || say "extrapolation is not told: $(cat err.txt)"
awk -F, 'NR == 1 { print; next } { $3 = " " 100 + ($3 - 25) / 4 " W"; print }' OFS=, card.csv >narrow.csv
"$thermix" calibrate narrow.csv -o narrow --no-figures >out.txt 2>err.txt || say "calibrate of a narrow span"
grep -q 'from 100 to 156 W only' err.txt || say "a narrow span is not told: $(cat err.txt)"
# what the watts are: said, found, or in the column's name
"$thermix" calibrate instant.csv -o named --no-figures -q >out.txt || say "calibrate of power.draw.instant"
grep -q '^power_is_mean,all,,0.*by the name of its column' named/fit.csv || say "instant: $(grep power_is named/fit.csv)"
"$thermix" calibrate card.csv -o means --power-is mean --no-figures -q >out.txt || say "--power-is mean"
grep -q '^power_is_mean,all,,1.*given' means/fit.csv || say "mean: $(grep power_is means/fit.csv)"
grep -q -- '--power-is mean' means/how.txt || say "how.txt: $(cat means/how.txt)"
"$thermix" calibrate card.csv -o late --power-is 4 --no-figures -q >out.txt || say "--power-is 4"
grep -q '^power_lag_s,all,,2' late/fit.csv || say "4 s: $(grep power_ late/fit.csv)"
# other words are errors
refuse() { # refuse PATTERN COMMAND...
  local pattern=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt
  [ $? -eq 2 ] || say "exit code of: $*"
  grep -q -e "$pattern" err.txt || say "$*: $(cat err.txt)"
}
refuse 'did you mean "inlet_c"' replay cal card.csv --set inlet=30
refuse 'expected a number from' replay cal card.csv --set power_cap_w=much
refuse 'power_scale is given twice' replay cal card.csv --set power_scale=1.1 --set power_scale=1.2
refuse 'expected two GPUs' replay cal card.csv --set swap=0:0
refuse 'two speeds of one fan' replay cal card.csv --set fan_rpm=3000 --set fan_curve=30:3000,60:4000
refuse 'fan need a calibration with fan speeds' replay cal card.csv --set fan_rpm=3000
refuse 'rpm does nothing: the calibration knows no fan speed' replay cal card.csv --rpm 3000
refuse 'no GPU is called' log show card.csv --gpus 7
printf 'time_s,power_w,temp_c,fan_rpm\n0,9,40,2000\n1,9,41,2000\n2,90,45,2000\n3,90,50,2000\n' >fans.csv
"$thermix" log show card.csv fans.csv >out.txt
grep -q 'fans.csv:2: GPU 0 is taken for that of the log before' out.txt || say "two logs of a GPU 0 without a host"
refuse 'rpm does nothing: every run of the log has a fan speed' calibrate fans.csv -o x --rpm 3000
refuse 'no run is called' log show card.csv --runs nowhere
refuse '-: standard input is given twice' log show - - <card.csv
refuse 'ambient' calibrate card.csv -o x --ambient warm
refuse 'expected instant, mean, auto or seconds' calibrate card.csv -o x --power-is now
# Times, watts and degrees in another unit are noticed by what is fitted.
odd() { # odd WORDS AWK OPTION...: card.csv as time_s, power_w and temp_c, changed
  local words=$1 how=$2
  shift 2
  awk -F', *' 'NR > 1 { s = NR - 2; p = $3 + 0; c = $4 + 0; '"$how"'; printf "%.10g,%.6g,%.6g\n", s, p, c }' card.csv | sed '1i time_s,power_w,temp_c' >odd.csv
  "$thermix" calibrate odd.csv -o odd --no-figures --no-check -q "$@" >out.txt 2>err.txt || say "calibrate, $how: $(cat err.txt)"
  if [ -n "$words" ]; then
    grep -qF "$words" err.txt || say "calibrate, $how: no \"$words\" in $(cat err.txt)"
  elif grep -E 'outside|is it' err.txt; then
    say "calibrate doubts a good log"
  fi
}
odd '' 's = s'
odd 'is it 1000 ms = 1 s?' 's *= 1000'
odd 'J/K from times in ms' 's *= 1000'
odd 'J/K from times in min' 's /= 60'
odd 'J/K from times in days' 's /= 86400'
odd 'K/W from amperes' 'p /= 12'
[ "$(grep -c warning err.txt)" = 1 ] || say "amperes are doubted as more than amperes: $(cat err.txt)"
# the second of two GPUs is judged, too, and named; long work shows on a terminal what it is at
awk 'BEGIN { print "time_s,gpu,power_w,temp_c"; t[0] = t[1] = 25
  for (s = 0; s < 900; s++) for (g = 0; g < 2; g++) { p = int(s / 200 + g) % 2 ? 300 : 80; t[g] += (p * 0.2 - t[g] + 25) / 60; print s "," g "," p / (g ? 12 : 1) "," t[g] } }' >pair.csv
"$thermix" calibrate pair.csv -o pair --no-figures --no-check -q >out.txt 2>err.txt || say "calibrate of a pair: $(cat err.txt)"
grep -q 'the fit misses .*: GPU 1 warms by .*K/W from amperes' err.txt || say "the second GPU's watts are not doubted: $(cat err.txt)"
awk -F, -v OFS=, 'NR == 1 { print; next } { if ($2 == 0) print $1, 0, $3, $4; $2++; print }' pair.csv >three.csv # so it is where another GPU is left out
"$thermix" calibrate three.csv --gpus 1,2 -o pair --no-figures --no-check -q >out.txt 2>err.txt || say "calibrate of two of three: $(cat err.txt)"
grep -q 'the fit misses .*: GPU 2 warms by .*K/W from amperes' err.txt || say "the wrong GPU's watts are doubted: $(cat err.txt)"
grep -q -- "--runs 'three' --gpus '1,2'" pair/how.txt || say "how.txt does not name the GPUs: $(head -1 pair/how.txt)"
awk 'BEGIN { print "time_s,gpu,power_w,temp_c"; for (s = 0; s < 1200; s++) for (g = 0; g < 4; g++) { p = int(s / 300 + g) % 3 ? 300 : 100; t[g] += (p * 0.1 - t[g]) / 60; print s "," g "," p "," int(t[g] * 4) / 4 + 25 } }' >long.csv
if command -v script >/dev/null; then
  script -qec "'$thermix' calibrate long.csv -o long --no-figures --no-check" /dev/null </dev/null >out.txt || say "calibrate of a long log"
  grep -q 'fitting [0-9]* parameters to [0-9]* rows' out.txt || say "long work without a line of progress: $(cat out.txt)"
fi
odd 'rpm = 3 1/min is outside' 's = s' --rpm 3 --accept
refuse 'is it 77 degF = 25 degC?' calibrate odd.csv -o odd --ambient 77
refuse 'air' calibrate card.csv -o x --air 0-1
refuse 'air: GPU 2 breathes the air of one other GPU, not of two' calibrate three.csv -o x --air '0>2,1>2'
awk 'BEGIN { printf "[{\"time_s\": 0, \"power_w\": 100, \"temp_c\": 40"; for (i = 0; i < 600; i++) printf ", \"x%d\": 1", i; print "}]" }' >many.json
refuse 'many.json:1: more than 512 names of values' calibrate many.json -o x
refuse 'expected the fit.csv' replay card.csv card.csv
refuse 'expected the folder of thermix calibrate' replay cal/node.cfg card.csv
awk 'BEGIN { print "time_s,power_w,temp_c"; for (i = 0; i < 60; i++) print i ",100,50" }' >flat.csv
refuse 'nothing can be identified' calibrate flat.csv -o flat
[ ! -e flat ] || say "a refused calibration left a folder"
# a log that is given twice, in two encodings, with old line ends, cut inside a number, or with doubtful rows
refuse 'given twice' calibrate card.csv card.csv -o x
mkdir -p day1 day2 day3 && for day in 1 2 3; do head -$((400 + day)) card.csv >day$day/card.csv; done # each its own run, whatever files are called
"$thermix" log show day1/card.csv day2/card.csv day3/card.csv --format csv >out.txt || say "three logs of one name"
[ "$(cut -d, -f1 out.txt | tail -3 | tr '\n' ' ')" = "card card:2 card:3 " ] || say "runs of three logs of one name: $(cut -d, -f1 out.txt)"
noted() { "$thermix" log show "$2" >out.txt 2>&1 && grep -q -e "$1" out.txt || say "$2: no note of $1: $(cat out.txt)"; }
tr '\n' '\r' <card.csv >cr.csv
noted 'carriage returns' cr.csv
printf '%s' "$(cat card.csv)" | head -c -1 >cut.csv
noted ':481: .*cut inside it? dropped' cut.csv
printf '%s' "$(cat card.csv)" >whole.csv
"$thermix" log show whole.csv 2>&1 | grep -q 'cut inside' && say "a log without a last line's end is cut"
awk 'NR > 100 && NR <= 110 { sub(/, [0-9.]* W/, ", 0.0 W") } { print }' card.csv >dead.csv
noted ':101: .*less than 1 W in 10 rows' dead.csv
awk -F', ' 'NR > 1 { $4 = 110 - $4 } { print $1 ", " $2 ", " $3 ", " $4 }' card.csv >margin.csv
noted 'falls where its power rises' margin.csv
{ printf '\377\376'; head -240 card.csv | sed 's/$/\r/' | iconv -f UTF-8 -t UTF-16LE; tail -n +241 card.csv; } >mixed.csv
refuse 'mixed.csv:241: UTF-16 text up to here' calibrate mixed.csv -o x
awk 'BEGIN { printf "time_s"; for (g = 0; g < 150; g++) printf ",gpu.%d.temp,gpu.%d.powerWatts", g, g; print ""
  for (i = 0; i < 5; i++) { printf i; for (g = 0; g < 150; g++) printf ",40,%d", 50 + i; print "" } }' >wide.csv
[ "$("$thermix" log show wide.csv --format csv | wc -l)" = 151 ] || say "a wide log of 150 GPUs: $("$thermix" log show wide.csv --format csv | wc -l)"
# figures of runs whose names differ in what no file's name has
awk -F', ' 'BEGIN { print "run,time_s,power_w,temp_c" } NR > 1 { w[NR] = $3 + 0; t[NR] = $4 }
  END { for (r = 0; r < 2; r++) for (i = 2; i <= NR; i++) print (r ? "a_b" : "a/b") "," i "," w[i] + r "," t[i] }' card.csv >runs.csv
"$thermix" calibrate runs.csv -o twins >out.txt 2>err.txt || say "calibrate of two runs: $(cat err.txt)"
[ -s twins/a_b.svg ] && [ -s twins/a_b_2.svg ] || say "two runs have one figure: $(ls twins)"
# ---- what one command writes every other one takes ----
# GPUs under odd names, the first sample of one missing; the die's base shows (half seconds); fans, levels, one sink
python3 - <<'P' || say "logs for the walk"
import math
def log(name, gpus, fan=False, hosts=None):
    state, rows = {g: [0.0, 0.0] for g in gpus}, ["time_s,host,gpu,power_w,temp_c" + (",fan_rpm" if fan else "")]
    for i in range(700):
        t = 0.5 * i
        for k, g in enumerate(gpus):
            p = 40 + 3 * k if t < 60 or t >= 260 else (300 + 10 * k if t < 160 + 5 * k else 170)
            n = 3000 if not fan or t < 110 else 5000
            r = (0.08 + 0.01 * k) * (5000 / n) ** 0.8
            x = state[g]
            for tau, target, at in ((3.0, 0.03 * p, 0), (300 * r, r * p, 1)):
                x[at] += (target - x[at]) * (1 - math.exp(-0.5 / tau))
            if i or k != 1:
                cell = '"' + g.replace('"', '""') + '"' if '"' in g else g
                rows.append(f"{t},{hosts[k] if hosts else ''},{cell},{p},{30 + 0.02 * p + x[0] + x[1]:.2f}" + (f",{n}" if fan else ""))
    open(name, "w").write("\n".join(rows) + "\n")
log("walk_one.csv", ["0"])
log("walk_five.csv", ["2", "5", "10"])
log("walk_odd.csv", ["card 0", 'GPU-3b6e"3', "a/b", "a_b"])
log("walk_hosts.csv", ["0", "1"], hosts=["node1", "node2"])
log("walk_fan.csv", ["0", "1"], fan=True)
P
walk() { # walk LOG OPTION...
  local log=$1
  shift
  "$thermix" calibrate "$log" -o walked --no-figures --no-check -q "$@" >walked.txt 2>err.txt || say "calibrate $log $*: $(cat err.txt)"
  "$thermix" check walked/node.cfg >out.txt 2>&1 || say "check of $log $*: $(cat out.txt)"
  "$thermix" place walked --limit 85 --power 200 --check 2 --format csv >placed.csv 2>err.txt && [ ! -s err.txt ] || say "place of $log $*: $(cat err.txt)"
  "$thermix" replay walked "$log" -o errors.csv --trace traced.csv -q >out.txt 2>err.txt || say "replay of $log $*: $(cat err.txt)"
  awk -F, 'NR > 1 && $(NF - 2) > 1 { exit 1 }' errors.csv || say "replay of $log $*: $(cat errors.csv)"
  sed 's/away/walked/' moved/run.cfg >walk.cfg
  "$thermix" run walk.cfg --set stuck_s=5000 --set mix=./brief.cfg --trace 1 -q -o ran >out.txt 2>err.txt || say "run of $log $*: $(cat err.txt)"
}
walk_files() { # the same, and each table of it as a log, each chip alone
  walk "$@"
  for chip in walked/chips/*/; do "$thermix" check "$chip" >out.txt 2>&1 || say "check of $chip: $(cat out.txt)"; done
  for written in traced.csv walked/residuals.csv ran/trace.csv; do "$thermix" log show $written >out.txt 2>&1 || say "log show $written: $(cat out.txt)"; done
  "$thermix" calibrate traced.csv -o again --no-figures --no-check -q >out.txt 2>err.txt || say "calibrate of a replay's trace: $(cat err.txt)"
}
walk walk_one.csv
grep -q '^die_s,all' walked/fit.csv || say "the base of the die does not show"
# a part that the fit calls a case is in the node, too: 30 + 300 (0.02 + 0.03 + 0.1204) = 81.1
grep -q '^case_k_per_w,all,,0' walked/fit.csv || say "no case: the log tells another model"
"$thermix" place walked --limit 85 --power 300 --check 0 --format csv >placed.csv
awk -F, 'NR == 2 { exit !($6 > 80.6 && $6 < 81.6) }' placed.csv || say "the case is not in the forecast: $(cat placed.csv)"
# the node's steps are the fit's: interface, base and sink as a ladder
"$thermix" run walk.cfg --set stuck_s=5000 --set mix=./brief.cfg --set tick_s=0.02 --trace 0.5 -q -o ran || say "a run of the base"
python3 - <<'P' || say "the step of a run is not the fit's"
import csv, math
p = {r["parameter"]: float(r["value"]) for r in csv.DictReader(open("walked/fit.csv")) if r["value"]}
air = float(next(l for l in open("walked/node.cfg") if l.startswith("inlet_c")).split("=")[1].split(";")[0])
for r in csv.DictReader(open("ran/trace.csv")):
    t, w = float(r["time_s"]), float(r["power_w"])
    is_c = air + w * (p["junction_k_per_w"] + p["die_k_per_w"] * (1 - math.exp(-t / p["die_s"]))
                      + p["sink_k_per_w"] * (1 - math.exp(-t / p["sink_k_per_w"] / p["sink_j_per_k"]))
                      + p.get("case_k_per_w", 0) * (1 - math.exp(-t / p.get("case_s", 1))))
    assert abs(float(r["hottest_c"]) - is_c) < 0.2, (t, r["hottest_c"], is_c)
P
# check reads what a run reads: a package that no run takes
cp -r walked broken && sed -i 's/-p_chip.*/-p_chip 2.3e9/' broken/chips/gpu0/package.config
"$thermix" check broken/node.cfg >out.txt 2>err.txt && say "check of a node whose package no run takes: $(cat out.txt)"
grep -q 'gpu0/package.config:5: p_chip' err.txt || say "check of a broken package: $(cat err.txt)"
walk walk_one.csv --levels gtx280 --ambient 30
walk walk_five.csv
grep -q 'name = "5"; chip = "chips/gpu5"; card = "card5"' walked/node.cfg || say "GPU 5 is not called 5: $(grep chips walked/node.cfg)"
"$thermix" place walked --limit 85 --power 200 --check 0 --by job >out.txt && [ "$(awk '/^node/ { print $5 }' out.txt | tail -3 | tr '\n' ' ')" = "2 5 10 " ] || say "place does not call GPUs as the log: $(cat out.txt)"
"$thermix" run walk.cfg --set stuck_s=5000 --set 'mix=./brief.cfg' -q -o ran && awk -F, 'NR == 2 { exit $NF != 2 }' ran/kernels.csv || say "a run does not call GPUs as the log: $(cat ran/kernels.csv)"
# each swap exchanges what the ones before it left; a GPU that the log has not has no work to give
work_of() { "$thermix" replay walked walk_five.csv -q --format csv "$@" | awk -F, '$2 == 10 { print $5, $7 }'; }
[ "$(work_of --set swap=2:5 --set swap=5:10)" = "$(work_of --set swap=2:10)" ] || say "two swaps: $(work_of --set swap=2:5 --set swap=5:10)"
refuse 'there is no GPU "5" in the log' replay walked walk_five.csv --gpus 2,10 --set swap=2:5
sed 's/^upstream,2,,0\(.*\),given,/upstream,2,,1\1,given,5/; s/^upstream,5,,0\(.*\),given,/upstream,5,,1\1,given,2/' walked/fit.csv >circle.csv
refuse 'GPU 2 breathes its own air' replay circle.csv walk_five.csv
walk walk_five.csv --alike
walk_files walk_odd.csv
[ "$(find walked/chips -name package.config | wc -l)" = 4 ] || say "two GPUs share a chip's folder: $(find walked/chips)"
walk walk_hosts.csv
grep -q 'name = "node2/1"' walked/node.cfg || say "hosts: $(grep chips walked/node.cfg)"
walk walk_fan.csv
cp -r walked fanned
# fans follow the hottest GPU of the moment, however many rows it has
awk -F, -v OFS=, 'NR > 1 && $3 == 0 { $4 = 40 } { print >"dense.csv" } NR == 1 || $3 == 0 || int($1) % 5 == 0' walk_fan.csv >sparse.csv
for log in dense sparse; do "$thermix" replay fanned $log.csv --ambient 30 -q --set fan_curve=30:2000,60:6000 --format csv | awk -F, '$2 == 0 { print $7 }'; done |
  awk '{ c[NR] = $1 } END { exit !(c[1] > 0 && c[1] - c[2] < 0.02 && c[2] - c[1] < 0.02) }' || say "a fan's curve behind a GPU with fewer rows"
# of a GPU that begins late the half is that of its own time, which the rows that set its start have not
awk -F, 'NR == 1 || $3 != 1 || $1 >= 175' walk_fan.csv >late.csv
"$thermix" replay fanned late.csv --from 0.5 -q --format csv >out.txt && [ "$(awk -F, '$2 == 1 { print $3 }' out.txt)" = 175 ] || say "rows that set a start are judged: $(cat out.txt)"
# air: the mean over the runs that were fitted
awk -F, 'NR == 1 { print "run," $0; next } { print "a," $0; sub(/[^,]*$/, $NF + 10); print "b," $0 }' walk_one.csv >two_runs.csv
"$thermix" calibrate two_runs.csv --runs a -o one_run --no-figures --no-check -q >out.txt && grep -q '^inlet_c = \(29\|30\)' one_run/node.cfg || say "air of runs that were not fitted: $(grep inlet_c one_run/node.cfg)"
# what a forecast and a what-if are good for, and what they hold
grep -q '^The model follows the log of 1 GPU to .* K rms. Long at the log.s highest power, 250 W, it is forecast to +- [0-9.]* K (95 %)' cal.txt || say "no verdict: $(head -2 cal.txt)"
"$thermix" place cal --limit 89 --power 200 >out.txt 2>err.txt || say "place: $(cat err.txt)"
grep -q '^[0-9.]* +- [0-9.]* degC; limit 89' out.txt || say "a forecast without its error: $(cat out.txt)"
"$thermix" place cal --limit 89 --power 500 --check 0 2>&1 >/dev/null | grep -q 'a GPU draws 500 W, the calibration.s log 25 to 250 W' || say "a forecast far above the log"
"$thermix" replay cal card.csv --set inlet_c=+6 -q >out.txt && grep -q 'would reach [0-9.]* +- [0-9.]* degC.*as logged' out.txt || say "a what-if without its error: $(cat out.txt)"
grep -q 'Held as in the log: the fans, whose speed it does not tell' out.txt || say "what a replay holds: $(cat out.txt)"
"$thermix" replay fanned walk_fan.csv --set inlet_c=+6 -q >out.txt || say "a what-if with fans"
offer=$(grep -o 'thermix place fanned --power [0-9]* --set inlet_c=+6' out.txt) && $thermix ${offer#thermix } >out.txt 2>err.txt || say "the command that replay offers: $offer $(cat out.txt err.txt)"
# an exact shift is as sure as the replay; an ambient that the log does not tell is not
"$thermix" replay cal card.csv --set inlet_c=+6 -q --format csv >shift.csv && "$thermix" replay cal card.csv --set inlet_c=31 -q --format csv >given.csv || say "what-ifs"
awk -F, 'FNR == 2 { e[++n] = $9; r[n] = $8 } END { exit !(e[1] > 1.95 * r[1] && e[1] < 1.97 * r[1] && e[2] > e[1]) }' shift.csv given.csv || say "errors of what-ifs: $(cat shift.csv given.csv)"
"$thermix" calibrate two_runs.csv -o twice --no-figures -q >out.txt && grep -q 'left out once: run a: rms .* K by a fit to run b alone ([0-9]* rows, 40 to 300 W; this run has 40 to 300 W)' out.txt || say "left out once: $(cat out.txt)"
# the step of a log without times is assumed aloud, also with -q
cut -d, -f2- sink.csv >timeless.csv
for how in "log show timeless.csv" "calibrate timeless.csv -o x --no-figures --no-check -q" "replay x timeless.csv -q --format csv"; do
  "$thermix" $how >out.txt 2>&1 || say "$how: $(cat out.txt)"
  grep -q 'warning: timeless.csv: no time stamps: rows are taken to be 1 s apart' out.txt || say "$how assumes 1 s in silence: $(cat out.txt)"
done
# --long (slow): of a log whose structure a part of its rows tells, GPUs that work at other times keep the air that they pass on
[ "${3:-}" != --long ] || {
  awk 'BEGIN { srand(3); print "time_s,gpu,power_w,temp_c"; n = 30100
    for (s = 0; s < n; s++) for (g = 0; g < 2; g++) { at = s / n - (g ? 0.75 : 0.25); if (s % 200 == 0) p[g] = at > -0.2 && at < 0.2 ? (rand() < 0.5 ? 100 : 700) : (rand() < 0.5 ? 100 : 140)
      q[g] += (p[g] - q[g]) / 36; printf "%d,%d,%d,%.1f\n", s, g, p[g], 25 + 0.03 * p[g] + 0.06 * q[g] + (g ? 0.02 * q[0] : 0) } }' >apart.csv
  "$thermix" calibrate apart.csv -o apart --air '0>1' --no-figures --no-check -q >out.txt || say "calibrate of a long log"
  awk -F, '/^preheat_k_per_w/ { found = $4 > 0.0195 && $4 < 0.0205 } END { exit !found }' apart/fit.csv || say "air of 0.02 K/W is not found: $(grep preheat apart/fit.csv out.txt)"
}
echo "measured logs: all well"
