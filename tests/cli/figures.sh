#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `thermix plot` draws every figure there is data for, in every format, and says what is missing.
# Usage: figures.sh THERMIX ROOT [--kernels]
set -euo pipefail
thermix=$1
scripts=$(cd "$(dirname "$0")/../../plots/scripts" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
say() { echo "FAILED: $*"; exit 1; }

mkdir single multi
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,energy_j,energy_saved_vs_bl_pct,variant,error"
  for mix in WL1 WL2 mean mean_target; do
    echo "$mix,BL,6.8,0,80000,0,,"
    echo "$mix,DVFS,4.9,28,76000,5,,"
    echo "$mix,MNU,2.5,63,77000,-1,,"
  done
} >single/table.csv
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,variant"
  for t in T3 T1 T2 fan-curve; do for mix in WL1 mean; do for p in MG-BL MG-DVFS MG-MU; do echo "$mix,$p,5,20,$t"; done; done; done
} >multi/table.csv
"$thermix" plot multi -o m_svg >multi.txt
for format in svg png pdf; do
  "$thermix" plot single -o "f_$format" --format $format | cat - multi.txt >names.txt
  for figure in f/figure3 f/figure4 f/slowdown f/pareto $([ $format != svg ] || echo m/figure5 m/figure6); do
    file=${figure%/*}_$format/${figure#*/}.$format
    [ -s "$file" ] || say "no $file"
    grep -qx "$file" names.txt || say "$figure not named"
  done
done
printf 'mix,DVFS,MNU\nWL1,28,63\nWL2,28,63\nmean,28,63\n' | cmp - f_svg/data/figure3.csv || say data of figure 3
printf 'variant,MG-DVFS,MG-MU\nT1,20,20\nT2,20,20\nT3,20,20\n' | cmp - m_svg/data/figure6.csv || say data of figure 6
for words in 'improvement over BL (%)' WL1 DVFS MNU mean; do grep -qF "$words" f_svg/figure3.svg || say "figure 3 lacks $words"; done

# What a figure has no room for is said.
mkdir many
{ echo "mix,policy,slowdown_pct"; for i in $(seq 65); do echo "m$i,BL,$i"; done; } >many/table.csv
"$thermix" plot many -o f_many >/dev/null 2>many.txt
grep -q 'first 64 values of column mix' many.txt || say "the 65th mix is left out without a word"

# Names as they are, one colour a policy, the paper's values as marks; a script works from any folder.
mkdir own
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,energy_j"
  for mix in hot_cold mean; do n=1; for p in BL MNU my_policy; do n=$((n + 1)); echo "$mix,$p,$n,2$n,100$n"; done; done
} >own/table.csv
{
  echo "paper,figure,quantity,case,unit,paper_value,ours,origin"
  echo "003,Figure 3,improvement over BL,hot_cold MNU,percent,33.5,20,unseen"
  echo "003,Figure 3,improvement over DVFS,hot_cold MNU,percent,44.5,20,unseen"
  echo "003,Figure 3,improvement over BL,mean my_policy,percent,,20,unseen"
} >own/paper.csv
"$thermix" plot own -o f_own >/dev/null
grep -q 'hot_cold' f_own/figure3.svg || say "hot_cold is not drawn as it is"
printf 'group,bar,paper_value\n0,1,33.5\n' | cmp - f_own/data/figure3_paper.csv || say "marks of the paper"
grep -q 'paper' f_own/figure3.svg || say "no mark of the paper"
hex=$(sed -n 's/^MNU,#//p' "$scripts/colours.csv") # of the one table
mnu="#$hex\|rgb( *$((16#${hex:0:2})), *$((16#${hex:2:2})), *$((16#${hex:4:2})) *)"
for figure in figure3 slowdown; do grep -qi "$mnu" f_own/$figure.svg || say "MNU has another colour in $figure"; done
(cd f_own && gnuplot -e "data='data/figure3.csv'; out='again.svg'; format='svg'" "$scripts/quantity.gp") && [ -s f_own/again.svg ] ||
  say "the script does not work from another folder"
printf 'hz,boards_w,feed_w\n1,0,2\n2,0,1\n' >steady.csv && printf 'key,text\nfigure,"spectrum"\n' >steady_labels.csv # under a high floor boards draw steadily, feeds do not
gnuplot -e "data='steady.csv'; out='steady.svg'; format='svg'" "$scripts/spectrum.gp" && [ -s steady.svg ] || say "spectrum of steady boards"
printf 'mix,MNU,my_policy\nhot_cold,23,24\n' | cmp - f_own/data/figure3.csv || say "one mix has no mean, the baseline no bar of its own"
for size in small large; do "$thermix" plot own --size $size -o f_own -q && cp f_own/figure3.svg $size.svg; done
width() { sed -n 's/^<svg.* viewBox="0 0 \([0-9]*\).*/\1/p; s/^ *viewBox="0 0 \([0-9]*\).*/\1/p' "$1" | head -1; }
[ "$(width small.svg)" = 350 ] && [ "$(width large.svg)" = 1152 ] || say "--size: $(width small.svg), $(width large.svg)"
mkdir long && { echo "mix,policy,slowdown_pct"; for m in 1 2 3 4 5 6; do for p in BL MU; do echo "a_mix_of_a_long_name_$m,$p,$m"; done; done; } >long/table.csv
"$thermix" plot long --figure slowdown -o long.svg -q && grep -q 'rotate(-30' long.svg && ! grep -q 'rotate(-30' f_own/slowdown.svg || say "long names of mixes touch, or short ones are turned"
mkdir variants # a suite without BL: its own baseline, a figure of its variants, whose the others are
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,variant"
  for v in cold hot; do for m in train mean; do echo "$m,equal,4,0,$v"; echo "$m,slosh,3,25,$v"; done; done
  for m in own mean; do echo "$m,equal,4,0,other"; echo "$m,slosh,3,25,other"; done # a variant with its own mix
} >variants/table.csv
"$thermix" plot variants -o f_variants -q || say "variants"
printf 'variant,equal,slosh\ncold,4,3\nhot,4,3\nother,4,3\n' | cmp - f_variants/data/variants.csv || say "variants"
printf 'mix,slosh\ntrain,25\n' | cmp - f_variants/data/figure3.csv || say "the baseline against itself"
grep -q 'Slowdown by mix, cold' f_variants/slowdown.svg || say "whose variant?"
"$thermix" plot own -o one.gif --figure slowdown -q 2>err.txt && say "-o one.gif"
grep -q "figures are .svg, .png or .pdf" err.txt && [ ! -e one.gif ] || say "-o one.gif: $(cat err.txt)"
"$thermix" plot own -o one.png --figure slowdown -q && [ "$(head -c 4 one.png | tail -c 3)" = PNG ] || say "-o one.png"

# Kernels by policy, their mean, and what the paper prints of it as marks; columns by name, quoted cells.
mkdir gate
{
  echo "policy,kernel,bet,wakeup,fit,slowdown_pct,int_saved_pct"
  for k in NN MUM; do for p in none convpg gates naive_blackout coordinated_blackout warped_gates; do echo "$p,$k,14,3,convpg,3,20"; echo "$p,$k,9,3,convpg,7,50"; done; done
} >gate/table.csv
{
  echo "paper,figure,quantity,case,unit,paper_value,ours"
  echo '001,Figure 10,"slowdown, mean",mean gates fit all,percent,1.5,3'
} >gate/paper.csv
"$thermix" plot gate -o f_gate --figure fig10 -q || say "figure 10 of paper 001"
for words in 'paper 001, Figure 10' NN MUM mean warped_gates paper; do grep -qF "$words" f_gate/fig10.svg || say "figure 10 of paper 001 lacks $words"; done
{ echo "kernel,convpg,gates,naive_blackout,coordinated_blackout,warped_gates"; for k in NN MUM mean; do echo "$k,3,3,3,3,3"; done; } | cmp - f_gate/data/fig10.csv ||
  say "data of figure 10 of paper 001"
printf 'group,bar,paper_value\n2,2,1.5\n' | cmp - f_gate/data/fig10_paper.csv || say "the paper's mean in figure 10 of paper 001"
mkdir stopped && cp gate/paper.csv stopped && grep -E "^(policy|none)," gate/table.csv >stopped/table.csv # its first rows: none of a figure
"$thermix" plot stopped -o f_stopped --figure fig10 2>err.txt || true
grep -qx 'figure fig10: no row to draw' err.txt || say "no word of a figure without a row: $(cat err.txt)"
mkdir kinds # means of kinds before the mean
{
  echo "kernel,policy,paper_class,ipc_share_pct,mean_power_w"
  for p in all_30 all apsa; do echo "X,$p,I,3,20"; echo "Y,$p,II,7,40"; done
} >kinds/table.csv
printf 'paper,figure,quantity,case,unit,paper_value,ours\n002,Section 7,"IPC, share of the peak",mean type I all 30 cores,percent,4,3\n' >kinds/paper.csv
for c in ipc_vs_30_pct performance_vs_30_pct power_vs_60_pct; do awk -v c=$c 'NR == 1 { print $0 "," c; next } { print $0 ",1" }' kinds/table.csv >t && mv t kinds/table.csv; done
"$thermix" plot kinds -o f_kinds -q || say "kinds"
printf 'kernel,all_30\nX,3\nY,7\nmean_I,3\nmean_II,7\nmean,5\n' | cmp - f_kinds/data/apsa.csv || say "means of kinds"
printf 'group,bar,paper_value\n2,1,4\n' | cmp - f_kinds/data/apsa_paper.csv || say "the paper's mean of a kind"

# The paper's values at the bars they belong to: kernels, means, kinds; bounds and other cases have no place.
mkdir cores
{
  echo "kernel,policy,cores,performance_vs_all_pct,energy_vs_all_pct"
  for k in MUM BFS mean_memory; do for p in all tcs htcs "tcs(throttling=false)" static_optimal; do echo "$k,$p,7,2,-30"; done; done
} >cores/table.csv
{
  echo "paper,figure,quantity,case,unit,paper_value,ours,relation"
  echo '000,Figure 6a,"performance, change against all cores",BFS tcs,percent,5,2,equal'
  echo '000,Figure 6a,"performance, change against all cores, mean",mean memory tcs,percent,-6,2,equal'
  echo '000,Figure 6a,"performance, change against all cores",MUM htcs,percent,,2,equal'
  echo '000,Figure 6b,"performance, change at least",MUM htcs,percent,9,2,at_least'
  echo '000,Section V,cores of the static optimum,MUM all,cores,6,7,equal'
} >cores/paper.csv
"$thermix" plot cores -o f_cores --figure policies -q && grep -qF '>paper<' <(tr -d '\n' <f_cores/policies.svg | sed 's/ *paper */paper/g') ||
  say "no marks in the figures of paper 000"
printf 'group,bar,paper_value\n1,1,5\n2,1,-6\n' | cmp - f_cores/data/policies_paper.csv || say "the paper's values of Figure 6"
printf 'group,bar,paper_value\n0,2,6\n' | cmp - f_cores/data/policies_3_paper.csv || say "the paper's values under the paper's names"

# Compared floorplans: bars, and heat maps side by side from every unit's mean temperature.
mkdir plans
printf 'floorplan,mixes,peak_temp_c,gradient_c,slowdown_pct,energy_j\na.flp,1,80,5,2,1000\nb/c.flp,1,82,6,3,1100\n' >plans/table.csv
printf 'floorplan,unit,left_mm,right_mm,bottom_mm,top_mm,mean_temp_c\na.flp,SM0,0,5,0,5,70\na.flp,SM1,5,10,0,5,72\nb/c.flp,SM0,0,5,0,5,75\nb/c.flp,SM1,5,10,0,5,71\n' >plans/units.csv
"$thermix" plot plans -o f_plans -q
for words in 'c: 71.0 to 75.0' SM0 'Mean temperature'; do grep -qF "$words" f_plans/floorplan_maps.svg || say "floorplan maps lack $words"; done
[ -s f_plans/floorplans.svg ] || say "no bars of floorplans"

# Several GPUs: a figure a GPU, one heat map of all, a player a GPU.
cat >mix.cfg <<'M'
name = "tiny"; kernels = ( { kernel = "SVM"; work_s = 3.0; }, { kernel = "Cmem"; work_s = 3.0; } );
M
cat >run.cfg <<'R'
topology = "gtx280x2"; mix = "./mix.cfg"; policy = "MG-MU"; seed = 1; tick_s = 0.01; rows = 8; cols = 8; sensor = { period_s = 0.01; };
R
"$thermix" run run.cfg -o two --trace 0.1 --hotspot 0.1 >screen.txt
grep -q '; figures: thermix plot two -o two/figures$' screen.txt || say "run does not say how to draw: $(tail -1 screen.txt)"
mv mix.cfg away.cfg # a run's folder describes itself: figures open no configuration again
"$thermix" plot two -o f_two >names.txt
mv away.cfg mix.cfg
[ -s two/floorplan_gpu0.flp ] && grep -q 'sensors = \["SM00"' two/folder.cfg || say "the folder does not describe itself"
[ ! -e two/floorplan_gpu1.flp ] || say "two GPUs of one chip have two floorplans"
for figure in temperature_gpu0 temperature_gpu1 sm_power_gpu0 sm_power_gpu1 power heatmap; do
  [ -s f_two/$figure.svg ] || say "no $figure.svg of two GPUs"
done
[ "$(grep -c '^SM00,' f_two/data/heatmap.csv)" = 2 ] || say "the heat map has not both GPUs"
grep -q 'GPU 1' f_two/heatmap.svg || say "the heat map does not name GPU 1"
cmp -s f_two/data/temperature_gpu0.csv f_two/data/temperature_gpu1.csv && say "both GPUs show the same temperatures"
[ "$(awk -F, 'NR == 2 { print $4 }' f_two/data/sm_kernel_gpu1.csv 2>/dev/null || echo 1)" = 1 ] || say "the share is not of the first kernel"
# three kernels, one of them alone at the end after a pause: each is drawn, over the whole time
sed 's/ ); *$/, { kernel = "Bs"; work_s = 1.0; arrival_s = 8.0; } );/' mix.cfg >three.cfg
"$thermix" run run.cfg --set mix=./three.cfg --set 'topology=""' --set policy=MU -o three --trace 0.1 -q 2>err.txt ||
  say "three kernels: $(cat err.txt)"
"$thermix" plot three -o f_three -q
[ "$(cut -d, -f4 f_three/data/sm_kernel.csv | grep -E '^[123]$' | sort -u | wc -l)" = 3 ] || say "a third kernel is not drawn"
[ "$(grep -c ',[0-4],[^,]*$' f_three/data/sm_kernel.csv)" = "$(($(wc -l <f_three/data/sm_kernel.csv) - 1))" ] || say "a time without a kernel is left out"
grep -q '>Bs<' f_three/sm_kernel.svg || say "the third kernel has no name"
"$thermix" report two -o two.html >/dev/null
for g in 0 1; do grep -q "\"name\":\"tiny MG-MU GPU $g\"" two.html || say "no player of GPU $g"; done

refuses() { # "words" ARGUMENT...
  local words=$1 code=0
  shift
  "$thermix" "$@" 2>err.txt >/dev/null || code=$?
  [ $code = 2 ] && grep -qF -- "$words" err.txt || say "$*: exit $code, $(cat err.txt)"
}
refuses 'nothing to draw' plot . -o x
"$thermix" cta MUM -o cta >/dev/null
refuses 'write tables only' plot cta -o x
refuses 'write tables only' report cta -o x.html
sed -i 's/^MUM,/MUN,/' cta/table.csv
refuses 'warning: cta/table.csv: not the file that its command wrote' report cta -o x.html
[ ! -e x ] && [ ! -e x.html ] && [ ! -e x.html.figures ] || say "a refused plot or report leaves files"
refuses '--format bmp: expected svg, png or pdf' plot single -o x --format bmp
refuses 'cannot open' plot none.sqlite -o x
refuses 'one file and these may be several figures' plot single -o x.png
refuses 'which of the two' plot single -o x.png --format svg --figure figure3
refuses 'no figure "figure9"' plot single -o y --figure figure9
refuses 'are for the database of a study' plot single -o x --x a --y b
refuses 'are for the database of a study' plot single -o x --all
refuses '"-/data" is no name of a folder' plot single -o -

# A suite that serves. A load: curves over its numbers, and what no point beats in both; dies that were not computed have no figure.
mkdir load conditions
{
  echo "mix,policy,ttft_p50_s,ttft_p99_s,tbt_p50_s,tbt_p99_s,e2e_p50_s,j_per_token,peak_temp_c,peak_memory_c,variant"
  echo "requests,tokens,0.2,0.9,0.05,0.10,7,6,,0,'+0 %"
  echo "requests,jsq,0.3,1.2,0.06,0.11,8,7,,0,'+0 %"
  echo "requests,tokens,0.2,1.0,0.07,0.12,9,5,,0,\"'+30 %, a week\""
  echo "requests,jsq,,,,,,,,,\"'+30 %, a week\""
} >load/table.csv
"$thermix" plot load -o f_load 2>err.txt >names.txt && [ ! -s err.txt ] || say "a load: $(cat err.txt)"
[ "$(sort names.txt | tr '\n' ' ')" = "f_load/latency_load.svg f_load/pareto.svg " ] || say "figures of a load: $(cat names.txt)"
[ "$(sed -n 3p f_load/data/latency_load.csv)" = 30,0.2,1,0.07,0.12,,,, ] || say "the second load: $(sed -n 3p f_load/data/latency_load.csv)"
[ "$(tail -n +2 f_load/data/pareto_front.csv | cut -d, -f1,5,6 | tr '\n' ' ')" = "tokens,0.9,6 tokens,1,5 " ] || say "the front: $(cat f_load/data/pareto_front.csv)"
sed "s/'+0 %/as it is/; s/\"'+30 %, a week\"/warmer/; s/,,0,/,91,95,/" load/table.csv >conditions/table.csv
"$thermix" plot conditions -o f_conditions 2>err.txt >names.txt && [ ! -s err.txt ] && [ "$(wc -l <names.txt)" = 5 ] || say "conditions: $(cat names.txt err.txt)"
printf 'variant,tokens,jsq\nas it is,91,91\nwarmer,91,\n' | cmp - f_conditions/data/peak_temp_c.csv || say "dies by condition"

# A study: axes with the same last word have figures of their own, and each says what its points are means of.
cat >study.cfg <<'C'
name = "st"; base = "study"; set = ["rows=8", "cols=8", "tick_s=0.01", "quantum_s=0.01", "sensor.period_s=0.01", "warmup_s=5.0"]; seed = 1;
axes = ( { key = "policy"; values = ["BL", "DVFS"]; }, { key = "mix_policy.policy"; values = ["fcfs", "alternate"]; },
         { key = "package.r_convec"; values = [0.2, 0.25]; } );
C
"$thermix" sweep study.cfg -o study.sqlite >/dev/null && "$thermix" plot study.sqlite -o f_study >names.txt || say "a study"
[ "$(sort names.txt | uniq -d)" = "" ] && [ -s f_study/energy_j_by_policy.svg ] && [ -s f_study/energy_j_by_mix_policy.policy.svg ] || say "axes policy and mix_policy.policy: $(cat names.txt)"
grep -q 'means of n = 2 runs over r_convec' f_study/energy_j_by_policy.svg || say "a study's figure does not say what it averaged"
sed 's/seed = 1;/seed = 1; repeat = 3;/; s/"rows=8"/"rows=8", "sensor.noise_k=0.5", "throttle.trip_c=80", "throttle.release_c=79"/; s/{ key = "mix_policy[^}]*}, *//' study.cfg >repeat.cfg
"$thermix" sweep repeat.cfg -o repeat.sqlite >/dev/null && "$thermix" plot repeat.sqlite -o f_repeat >names.txt || say "a study of seeds"
grep -q by_seed names.txt && say "seeds are an axis: $(cat names.txt)"
grep -q 'means of n = 3 runs over seed; bars: 95 % interval of the mean' f_repeat/peak_temp_c_by_r_convec.svg || say "bars of seeds"
"$thermix" query repeat.sqlite --rows policy,r_convec --value peak_temp_c --aggregate mean,ci95 --format csv 2>/dev/null | tail -n +2 | sort >want.csv
awk -F, 'NR > 1 { print $1 "," $2 "," $3 "," ($5 - $4) / 2 }' f_repeat/data/peak_temp_c_by_r_convec.csv | sort | paste -d, - want.csv |
  awk -F, '{ d = $4 - $8; s += $8 } d > 1e-6 || d < -1e-6 || $3 != $7 { bad = 1 } END { exit !(NR == 4 && !bad && s > 0) }' || say "intervals: $(cat want.csv)"
grep -q '<title>energy_j_by_policy</title>' f_study/energy_j_by_policy.svg || say "an SVG is called Gnuplot"
grep -q 'scale(0.00' f_study/*.svg && say "a transform that librsvg refuses"
# two metrics: means over seeds, and what no point beats in both
"$thermix" plot repeat.sqlite --x peak_temp_c --y slowdown_pct --where 'peak_temp_c>0' -o metrics.svg -q || say "a metric against a metric"
python3 - <<'P' || say "the front of two metrics"
import csv, sqlite3
db, points = sqlite3.connect("repeat.sqlite"), {}
keys = [k for (k,) in db.execute("SELECT DISTINCT key FROM parameter WHERE key NOT LIKE '%seed'")]
for run, in db.execute("SELECT id FROM run"):
    who = tuple(str(db.execute("SELECT value FROM parameter WHERE run = ? AND key = ?", (run, k)).fetchone()[0]) for k in keys)
    points.setdefault(who, []).append([db.execute("SELECT value FROM metric WHERE run = ? AND name = ?", (run, m)).fetchone()[0] for m in ("peak_temp_c", "slowdown_pct")])
means = [[sum(v) / len(v) for v in zip(*p)] for p in points.values()]
front = sorted({tuple(p) for p in means if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in means)})
drawn = [[float(r["x"]), float(r["y"])] for r in csv.DictReader(open("metrics.figure/data/slowdown_pct_by_peak_temp_c_front.csv"))]
assert len(drawn) == len(front) and all(abs(a - b) < 1e-9 for p, q in zip(drawn, front) for a, b in zip(p, q)), (drawn, front)
assert len(list(csv.DictReader(open("metrics.figure/data/slowdown_pct_by_peak_temp_c.csv")))) == len(means) == 4
P
refuses 'is a metric: give --y METRIC' plot repeat.sqlite --x peak_temp_c -o x
# files in a study are called by their names alone
sed 's/hot/one/' mix.cfg >a-long-name-of-a-mix.cfg; sed 's/3.0/4.0/; s/tiny/other/' mix.cfg >another-long-name-of-a-mix.cfg
echo 'name = "m"; base = "./one.cfg"; axes = ( { key = "mix"; values = ["./a-long-name-of-a-mix.cfg", "./another-long-name-of-a-mix.cfg"]; } );' >mixes.cfg
echo 'chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;' >one.cfg
"$thermix" sweep mixes.cfg -o mixes.sqlite -q >/dev/null && "$thermix" plot mixes.sqlite -o f_mixes -q || say "a study of files"
grep -q '> *a-long-name-of-a-mix *<' f_mixes/energy_j_by_mix.svg && grep -q 'rotate(' f_mixes/energy_j_by_mix.svg || say "names of files touch"
# a trace coarser than what switches has least and most of each sample, and the figure shows them
for every in 0.01 0.5; do "$thermix" run one.cfg --set inlet_c=20 --set throttle.trip_c=50 --set throttle.release_c=49 -o every_$every --trace $every -q; done
"$thermix" plot every_0.5 --figure temperature -o envelope.svg -q
python3 - <<'P' || say "the envelope of a trace"
import csv
fine, coarse = ([r for r in csv.DictReader(open(f"every_{e}/trace.csv"))] for e in ("0.01", "0.5"))
n, seen = 50, 0
for i, row in enumerate(coarse):
    part = fine[i * n:(i + 1) * n]
    hot = [float(r["hottest_c"]) for r in part]
    cold = [min(float(v) for k, v in r.items() if k.startswith("sm") and k.endswith("_temp_c")) for r in part]
    got = [float(row[k]) for k in ("hottest_min_c", "hottest_max_c", "coolest_min_c", "sample_mean_c", "stopped_1")]
    sms = [k for k in row if k.endswith("_gated")]
    want = [min(hot), max(hot), min(cold), sum(float(r["mean_c"]) for r in part) / n, sum(int(r[k]) for r in part for k in sms) / n / len(sms)]
    assert all(abs(a - b) < 2e-3 for a, b in zip(got, want)), (i, got, want)
    seen += 0 < got[4] < 1
assert seen > 3, "the throttle does not switch within a sample"
drawn = list(csv.DictReader(open("envelope.figure/data/temperature.csv")))
assert [r["hottest_c"] for r in drawn][3] == "%.3f" % float(coarse[3]["hottest_max_c"]) or abs(float(drawn[3]["hottest_c"]) - float(coarse[3]["hottest_max_c"])) < 1e-3
P
# letters of a column's PDF have at least 7 points, and eight GPUs have eight colours
"$thermix" plot single -o f_small --format pdf --size small -q
python3 - f_small/*.pdf <<'P' || say "letters of a small PDF"
import re, sys, zlib
for name in sys.argv[1:]:
    sizes = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", open(name, "rb").read(), re.S):
        try: text = zlib.decompress(stream)
        except zlib.error: continue
        sizes |= {max(abs(float(a)), abs(float(b))) for a, b in re.findall(rb"([-\d.]+) ([-\d.]+) [-\d.]+ [-\d.]+ [-\d.]+ [-\d.]+ Tm", text)}
    assert sizes and min(sizes) > 6.99, (name, sizes)
P
[ "$(sed -n 's/^series(k) = word("\([^"]*\)".*/\1/p' "$scripts/style.gp" | tr ' ' '\n' | sort -u | wc -l)" = 8 ] || say "GPUs share colours"
# a floorplan in colours of kinds with a key, in three formats
for e in svg png pdf; do "$thermix" floorplan show "$scripts/../../floorplans/gtx280/centre.flp" -o plan.$e && [ -s plan.$e ] || say "a floorplan as $e"; done
fill() { sed -n "s/.*fill=\"\([^\"]*\)\"\/><text[^>]*>$1<.*/\1/p" plan.svg | head -1; }
[ -n "$(fill SM0)" ] && [ "$(fill SM0)" = "$(fill SM1)" ] && [ "$(fill SM0)" != "$(fill MC0)" ] && grep -q '>SM (30)<' plan.svg || say "colours of kinds: $(fill SM0) $(fill MC0)"
# words, names, order and moment as asked for
"$thermix" plot study.sqlite --x policy --y energy_j --title 'My title' --x-label Who --y-label What --rename BL=throttle -o mine.svg -q || say "--title"
for word in 'My title' Who What throttle; do grep -q ">$word<\|$word *</" <(tr -d '\n' <mine.svg) || grep -q "$word" mine.svg || say "no \"$word\" in mine.svg"; done
"$thermix" plot own --figure slowdown --order MNU,BL -o order.svg -q && [ "$(head -1 order.figure/data/slowdown.csv | cut -d, -f2,3)" = MNU,BL ] || say "--order: $(head -1 order.figure/data/slowdown.csv)"
"$thermix" plot own --figure slowdown --order MUN,BL --rename LB=x -o order.svg -q 2>err.txt
[ "$(grep -c 'order MUN: no figure has this name\|rename LB=x: no figure' err.txt)" = 2 ] || say "names that no figure has: $(cat err.txt)"
"$thermix" plot two --figure heatmap --at 0.2 -o at.svg -q || say "--at"
refuses '--at 99999: the record goes from' plot two --figure heatmap --at 99999 -o at.svg
"$thermix" plot single --figure slowdown --at 0.2 -o at.svg -q 2>&1 | grep -q 'at does nothing: no heat map' || say "--at without a heat map"
refuses 'has its own words' plot plans --figure floorplans --title x -o p.svg
refuses 'are of one figure' plot own --title x -o x
refuses 'expected OLD=NEW' plot own --rename BL -o x

# What thermix thermal wrote: blocks, cells under them, the hottest row of a trace; twice the same bytes, and nothing is left of a refusal.
example=$scripts/../../docs/examples/dualcore
"$thermix" thermal -c "$example/chip.config" -f "$example/chip.flp" -p "$example/power.ptrace" -steady_file t.steady -grid_steady_file t.grid -o t.ttrace --quiet >/dev/null || say thermal
map() { "$thermix" plot "$@" --flp "$example/chip.flp" -q; }
map t.grid --cells 40x48 -o t_grid.svg && cp t_grid.svg first.svg && map t.grid --cells 40x48 -o t_grid.svg && cmp -s first.svg t_grid.svg || say "a grid drawn twice"
map t.steady -o t_steady.svg && map t.ttrace -o t_ttrace.svg || say "blocks, or a trace"
python3 - t.steady t.grid t.ttrace <<'P' || say "a map's data are not those of its file"
import csv, sys
rows = lambda name: list(csv.DictReader(open(name + ".figure/data/map.csv")))
steady = dict(line.split() for line in open(sys.argv[1]) if line.strip())
assert all(abs(float(steady[r["unit"]]) - 273.15 - float(r["temp_c"])) < 1e-3 for r in rows("t_steady"))
layer = [float(line.split()[1]) for line in open(sys.argv[2]).read().split("Layer 1:")[0].split("\n")[1:] if line.strip()]
hottest = max(rows("t_grid"), key=lambda r: float(r["temp_c"]))
assert abs(float(hottest["temp_c"]) - max(layer) + 273.15) < 1e-3 and hottest["unit"] == "C1_Reg", hottest # its row is the upper one
cells = list(csv.DictReader(open("t_grid.figure/data/map_cells.csv")))
assert len(cells) == 1920 and abs(float(cells[0]["y_mm"]) - 9.875) < 1e-6 and abs(float(cells[0]["temp_c"]) - layer[0] + 273.15) < 1e-3, cells[0]
trace = [line.split() for line in open(sys.argv[3]) if line.strip()]
hot = max((float(v), i, n) for i, line in enumerate(trace[1:]) for v, n in zip(line, trace[0]))
last = max((float(r["temp_c"]), r["unit"]) for r in rows("t_ttrace"))
assert last[1] == hot[2] and abs(last[0] - hot[0] + 273.15) < 1e-3, (last, hot) # a trace is in kelvins, a map in degC
P
map t.grid --cells 40x48 --size small -o t_small.svg || say "a small map"
python3 - t_grid.svg t_small.svg <<'P' || say "words of a map are not on its page, or its cells have borders"
import re, sys
for name in sys.argv[1:]:
    svg = open(name).read()
    wide, high = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    at = {t: (float(x), float(y)) for x, y, t in re.findall(r'<g transform="translate\(([-\d.]+),([-\d.]+)\)[^>]*>\s*<text>\s*([^<]*)', svg)}
    for words in ("x (mm)", "y (mm)", "temperature (°C)"):
        assert 5 < at[words][0] < wide - 4 and 5 < at[words][1] < high - 4, (name, words, at[words], wide, high)
    assert svg.count("<polygon") > 1920 > 10 * svg.count("<path stroke='rgb(  0,  34,  78)'"), name
P
# a stack knows where its layers' blocks lie; a floorplan alone does not, and is refused where they differ
cp -r "$scripts/../../examples/cooling/plate" plate
(cd plate && "$thermix" thermal -c plate.config --network physical -grid_steady_file ../plate.grid -steady_file ../plate.steady --quiet >/dev/null) || say "the plate"
refuses 'its layers are 48 x 34 mm, plate/gpu.flp is 26 x 32 mm' plot plate.grid --flp plate/gpu.flp --layer 1 --cells 34x48 -o none.svg
"$thermix" plot plate.grid -c plate/plate.config -o plates -q && "$thermix" plot plate.grid -c plate/plate.config --layer 1 --scale own -o own.svg -q && "$thermix" plot plate.steady -c plate/plate.config -o blocks -q ||
  say "the maps of a stack"
python3 - <<'P' || say "a map of the plate is not where its blocks are"
import csv
rows = list(csv.DictReader(open("plates/data/map_layer1.csv")))
mc = next(r for r in rows if r["unit"] == "mc_w")
assert (float(mc["left_mm"]), float(mc["bottom_mm"])) == (11, 1) and 58 < float(mc["temp_c"]) < 66, mc # 61 degC in the steady file
steady = dict(line.split() for line in open("plate.steady") if line.strip())
blocks = {r["unit"]: float(r["temp_c"]) for r in csv.DictReader(open("blocks/data/map_layer1.csv"))}
assert all(abs(float(steady["layer_1_" + u]) - 273.15 - c) < 1e-3 for u, c in blocks.items()) and len(blocks) == 9, blocks
words = [dict(line.rstrip("\n").split(",", 1) for line in open(f"plates/data/map_layer{l}_labels.csv")) for l in range(5)]
assert len({(w["low_c"], w["high_c"]) for w in words}) == 1 and "layer 1 (gpu)" in words[1]["title"].replace("\u201a", ",") and "(sink)" in words[4]["title"]
own = dict(line.rstrip("\n").split(",", 1) for line in open("own.figure/data/map_labels.csv"))
assert own["low_c"] != words[1]["low_c"]
P
# cells are those of their numbers
awk '/^Layer 1/ { l = 1 } { if (l && $1 == 0) { keep = $0; next } print; if (l && keep && $1 == 6) { print keep; keep = "" } }' t.grid >swapped.grid
refuses 'swapped.grid:1923: expected cell 0, found 1' plot swapped.grid --flp "$example/chip.flp" --cells 40x48 -o none.svg
sed '5s/^[0-9]*/{/' t.grid >brace.grid && refuses "brace.grid:5: expected a cell's number" plot brace.grid --flp "$example/chip.flp" --cells 40x48 -o none.svg
echo '1920 330' >>t.grid && refuses 'layer 3 ends after 1921 cells of 1920' plot t.grid --flp "$example/chip.flp" --cells 40x48 -o none.svg && sed -i '$d' t.grid
sed '1p' "$example/chip.flp" | sed '1s/[^ \t]*/twice/' >over.flp && refuses 'over.flp' plot t.steady --flp over.flp -o none.svg
"$thermix" thermal -c plate/plate.config -p plate/power.ptrace --network physical -o plate.ttrace -grid_layer_file plate/stack.lcf --quiet >/dev/null && "$thermix" plot plate.ttrace --flp plate/gpu.flp -o die.svg -q || say "one die of a trace"
# a block twice, and one that the floorplan lacks
sed '1p' t.steady >twice.steady && refuses 'is there twice' plot twice.steady --flp "$example/chip.flp" -o none.svg
(cat t.steady && echo 'Q 330') >more.steady && refuses 'block Q is not in ' plot more.steady --flp "$example/chip.flp" -o none.svg
# a trace is curves over time
"$thermix" plot t.ttrace -c "$example/chip.config" -o curves.svg -q && grep -q 'time (s)' curves.svg && grep -q C1_Reg curves.svg || say "curves of a trace"
[ "$(sed -n 2p curves.figure/data/curves.csv | cut -d, -f1)" = "$(sed -n 's/^-sampling_intvl *//p' "$example/chip.config")" ] || say "times of curves: $(sed -n 2p curves.figure/data/curves.csv)"
[ "$(sed 1d t.ttrace | tr -s '\t ' '\n' | sort -g | awk '/./ { v = $1 } END { printf "%.2f", v - 273.15 }')" = "$(cut -d, -f3 curves.figure/data/curves.csv | sed 1d | sort -g | awk '{ v = $1 } END { printf "%.2f", v }')" ] ||
  say "curves in degC: $(sed -n 2p curves.figure/data/curves.csv)"
refuses 'no square: give --cells' plot t.grid --flp "$example/chip.flp" -o none.svg
refuses 'its layers are 0 to 3' plot t.grid --flp "$example/chip.flp" --cells 40x48 --layer 7 -o none.svg
echo '-ambient 300 K' >t.config
grep -v C1_Reg t.steady >less.steady
refuses 'chip.flp:14: no temperature of block C1_Reg in less.steady' plot less.steady --flp "$example/chip.flp" -o none.svg
refuses 't.config:1: expected a block or a cell' plot t.config --flp "$example/chip.flp" -o none.svg
[ -e none.svg ] || [ -e none.figure ] && say "a refused map leaves files"

# With --kernels (slow) a suite of kernels; what misses the paper's value is out of its band, whatever it was fitted to.
if [ "${3:-}" = --kernels ]; then
  "$thermix" table apsa --set core=sm_cycle --set seeds=1 -o apsa >/dev/null
  "$thermix" plot apsa -o f_apsa >/dev/null && [ -s f_apsa/apsa.svg ] || say "no figure of apsa"
  grep -q "^002,Table 1,.*,20,15,,,1,fitted,equal,-5,0.5,not in band" apsa/paper.csv || say "15 of 20 classes count as reproduced"
  grep -q '^002,Figure 6,"performance over 30 cores.*,fitted,equal,.*,8,in band' apsa/paper.csv || say "type I over 30 cores misses"
fi

code=0
PATH=/nowhere "$thermix" plot single -o x 2>err.txt || code=$?
[ $code = 1 ] && grep -q 'gnuplot is not installed' err.txt || say "without gnuplot: $code $(cat err.txt)"
code=0
PATH=/nowhere "$thermix" animate single -o heat.mp4 2>err.txt || code=$?
[ $code = 1 ] && grep -q 'ffmpeg is not installed' err.txt || say "without ffmpeg: $code $(cat err.txt)"
refuses 'ends in .mp4 or .gif' animate single -o heat.avi
echo "figures drawn in svg, png and pdf"
