#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Slips of units are noticed and the likely unit is named; values beyond every machine are errors that --accept takes;
# keys that contradict one another are errors.    units.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
export THERMIX_DATA=$root
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
say() { echo "FAILED: $*"; failed=1; }

warns() { # warns WORDS COMMAND...: exit code 0 and a warning
  local words=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt || say "$*: $(cat err.txt)"
  grep -qF -- "$words" err.txt || say "$*: no \"$words\" in: $(cat err.txt)"
}
refuses() { # refuses WORDS COMMAND...: exit code 2 and a message
  local words=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt
  [ $? = 2 ] || say "$*: exit code is not 2"
  grep -qF -- "$words" err.txt || say "$*: no \"$words\" in: $(cat err.txt)"
}
quiet() { # quiet COMMAND...: exit code 0 and nothing of units
  "$thermix" "$@" >out.txt 2>err.txt || say "$*: $(cat err.txt)"
  grep -E 'outside|is it|too coarse' err.txt && say "$*: a doubt about good values"
}

cat >run.cfg <<'CFG'
chip = "gtx280"; mix = "WL1"; seed = 1; tick_s = 0.01; quantum_s = 0.05; rows = 8; cols = 8;
CFG
quiet check ./run.cfg
set_() { echo "--set=$1"; }
refuses 'is it 6 cm = 0.06 m?' check ./run.cfg "$(set_ package.s_sink=6)"
warns 's_sink = 0.6 m is outside' check ./run.cfg "$(set_ package.s_sink=0.6)"
warns 's_sink = 6 m is outside' check ./run.cfg "$(set_ package.s_sink=6)" --accept
refuses 'is it 1.75 J/(cm3 K)' check ./run.cfg "$(set_ package.p_chip=1.75)"
warns 'is it 3550 kJ/(m3 K)' check ./run.cfg "$(set_ package.p_sink=3550)"
refuses 'is it 140400 mJ/K' check ./run.cfg "$(set_ package.c_convec=140400)"
warns 'is it 194 degF = 90 degC?' check ./run.cfg "$(set_ throttle.trip_c=194)"
refuses 'is it 50 ms = 0.05 s?' check ./run.cfg "$(set_ quantum_s=50)"
warns 'is it 5 ms = 0.005 s?' check ./run.cfg "$(set_ sensor.period_s=5)"
warns 'too coarse for' check ./run.cfg --set rows=2 --set cols=2

refuses 'gate.instructions does nothing here: no gate.policy is given' check ./run.cfg "$(set_ gate.instructions=2000)"
refuses 'has no static_reference_w' run ./run.cfg --set mix=aw1 -q
# a chip of one's own
mkdir chip && cp "$root"/floorplans/gtx280/* chip/
sed -i 's/volt_v = 1.18/volt_v = 1.8/; s/leakage_w = [0-9.]*/leakage_w = 0.02/' chip/gt200.cfg
warns 'volt_v = 1.8 V is outside' check ./run.cfg "$(set_ chip=./chip)"
grep -q 'is it 0.02 kW = 20 W?' err.txt || say "leakage in kW: $(cat err.txt)"
sed -i 's/volt_v = 1.8/volt_v = 1180/' chip/gt200.cfg
refuses 'is it 1180 mV = 1.18 V?' check ./run.cfg "$(set_ chip=./chip)"

# HotSpot's options, in a file and on the command line
cp "$root"/tests/golden/A_gt200/{case.config,chip.flp,power.ptrace} .
hot=(thermal -c case.config -f chip.flp -p power.ptrace --quiet)
quiet "${hot[@]}"
warns 'warning: -natural_convec has no effect beside the other options' "${hot[@]}" -natural_convec 1
for idle in 's_pcb 0.2' 'htc 3000' 'coolant_flow 1e-6'; do # of what the case does not have
  warns "-${idle% *} has no effect beside the other options" "${hot[@]:0:7}" -v -${idle}
done
warns 'chip.flp: the blocks leave no gap for the filler' "${hot[@]}" -k_filler 2
sed '/^[^#]/s/$/ 1.75e6 1/' chip.flp >own.flp
warns 'has a material of its own, which has no effect without' "${hot[@]/chip.flp/own.flp}"
refuses '--mixed is the reduced model' "${hot[@]}" --mixed --method grid
refuses '--tolerance is the reduced model' "${hot[@]}" --tolerance 1e-4 --scheme be
warns 'package.r_convec = 0.1 K/W has no effect: the sinks of card card0' check gtx280x2 "$(set_ rows=8)" "$(set_ cols=8)" "$(set_ package.r_convec=0.1)"
for idle in package.htc=5:'beside the other keys of the package' chip_power.leakage_c1_per_k=0.02:"beside the chip's other powers" package.block_omit_lateral=true:'beside the other keys' warmup_with=idle:'warmup_s is 0' place.policy=coldest:'the run has one GPU' spread.seed=3:'the GPUs are alike'; do
  warns "${idle##*:}" check ./run.cfg "$(set_ rows=8)" "$(set_ cols=8)" "$(set_ "${idle%%:*}")"
done
warns 'fan.speed = 0.2 is 1344 rpm: fan fans turns no slower than its min_rpm, 2604' check dgx-a100 "$(set_ rows=8)" "$(set_ cols=8)" "$(set_ fan.policy=fixed)" "$(set_ fan.speed=0.2)"
printf 'time_s,inlet_c,humidity\n0,30,40\n' >inlet.csv
warns 'inlet.csv: columns without an effect: humidity' check gtx280x2 "$(set_ rows=8)" "$(set_ cols=8)" "$(set_ inlet=./inlet.csv)"
sed -n '/^prompt_size,/,/^```/p' "$root/docs/serving.md" | sed '$d; 1s/hardware/hardwre/' >rows.csv
warns 'rows.csv: columns without an effect: hardwre' llm fit rows.csv --name mine -o mine.cfg
sed 's/hardwre/model/; s/a100-80gb/llama/; $s/llama/bloom/' rows.csv >models.csv
refuses 'models.csv:9: model = "bloom", after "llama" in line 2: expected the rows of one model' llm fit models.csv
sed '1s/prompt_size,batch_size/batch_size,prompt_size/' rows.csv >swapped.csv
refuses 'swapped.csv:2: batch_size is above prompt_size in every row: are they exchanged?' llm fit swapped.csv
warns 'swapped.csv:9: batch_size = 4096 requests is outside 1 to 1024 requests' llm fit swapped.csv --accept
refuses 'temp_c = -200 degC is far outside -40 to 150' consolidate 1S+20B --temp -200 "$(set_ power.temperature_w_per_k=0.3)"
refuses 'lumped does not model the physical network' run ./run.cfg "$(set_ method=lumped)" "$(set_ network=physical)"
refuses 'gpus and priority do nothing under a job policy' check ./run.cfg "$(set_ chip=c1060)" "$(set_ job.policy=consolidate)"
warns 'queue does nothing here: a job policy finds the GPUs' check day_users "$(set_ queue=shared)"
for key in pdi=counters rate_error=0.1 memory_bound_time=true stopped_blocks=wait sensor.delay_s=0.1; do
  warns "${key%=*} does nothing here: no policy" check wl1 "$(set_ policy=BL)" "$(set_ throttle.policy=none)" "$(set_ $key)"
  "$thermix" check wl1 --set policy=A --set "$key" 2>&1 | grep 'does nothing' && say "policy A and $key"
done
refuses 'is it 186 kW = 186000 W?' check serve-row "$(set_ row.budget_w=186)"
for slip in ttft_s=2000:2 tbt_s=200:0.2 e2e_s=60000:60; do
  v=${slip#*=}
  warns "is it ${v%:*} ms = ${v#*:} s?" check serve-row "$(set_ rows=8)" "$(set_ cols=8)" "$(set_ "serve.limits.${slip%:*}")"
done
sed 's/latency_us = 1.2;/latency_us = 1.2e-6;/' "$root/systems/node-8gpu.cfg" >link.cfg
warns 'latency_us = 1.2e-06 us is outside 0.02 to 10000 us; is it 1.2e-06 s = 1.2 us?' check ./link.cfg
"$thermix" check "$root/workloads/runs/gtx280x2.cfg" --set rows=8 --set cols=8 >two.cfg 2>err.txt && "$thermix" check ./two.cfg >out.txt 2>err.txt && ! grep -q r_convec err.txt || say "a package's own convection: $(cat err.txt)"
refuses 'is it 0.15 mm = 0.00015 m?' "${hot[@]}" -t_chip 0.15
refuses 'is it 0.02 mm = 2e-05 m?' "${hot[@]}" -t_interface 0.02
refuses 'is it 300 mK/W = 0.3 K/W?' "${hot[@]}" -r_convec 300
warns 'above 500 degC' "${hot[@]}" -r_convec 300 --accept
warns 'above 500 degC' "${hot[@]}" -r_convec 50 -o o.ttrace -init_temp 900 -grid_rows 16 -grid_cols 16
warns 'is it 10 ms = 0.01 s?' "${hot[@]}" -sampling_intvl 10
warns 'too coarse for' "${hot[@]}" -grid_rows 2 -grid_cols 2
sed 's/-t_chip.*/-t_chip 0.15/' case.config >slip.config
refuses 'slip.config:1: t_chip = 0.15 m' thermal -c slip.config -f chip.flp -p power.ptrace
awk 'NR == 1 { print; next } { for (i = 1; i <= NF; i++) $i /= 1000; print }' power.ptrace >kw.ptrace
warns 'is it 177.98 kW/m2' thermal -c case.config -f chip.flp -p kw.ptrace --quiet
sed '2s/^[^ \t]*/-4000/' power.ptrace >cold.ptrace
warns 'below its ambient' thermal -c case.config -f chip.flp -p cold.ptrace --quiet -o cold.ttrace -grid_rows 16 -grid_cols 16
sed 's/^\(-r_convec\)/# \1/' case.config >comment.config
warns 'comment.config:'"$(grep -n r_convec comment.config | cut -d: -f1)"': -r_convec is commented out: 0.1 K/W, the default, counts' \
  thermal -c comment.config -f chip.flp -p power.ptrace
echo '# -coolant_visc 0.0009' >>case.config # without channels a coolant's numbers have no effect
"$thermix" thermal -c case.config -f chip.flp -p power.ptrace 2>err.txt && ! grep commented err.txt || say "a coolant without channels: $(cat err.txt)"
"$thermix" thermal -c comment.config -f chip.flp -p power.ptrace -r_convec 0.2 2>err.txt && ! grep commented err.txt || say "an option of the command line: $(cat err.txt)"
sed 's/threads_per_block = [0-9]*/threads_per_block = 2048/' "$root"/workloads/kernels/MUM.cfg >wide.cfg
refuses './wide.cfg: kernel MUM, launch 1: a block of 64 warps' cta ./wide.cfg --core sm_cycle

# contradictions
boost() { set_ "dtm={policy=\"boost\";$1}"; }
refuses 'dtm.target_c = 95 is above slowdown_c = 90' check ./run.cfg "$(boost 'target_c=95.0;slowdown_c=90.0;')"
refuses 'dtm.slowdown_c = 97 is above shutdown_c = 95' check ./run.cfg "$(boost 'slowdown_c=97.0;shutdown_c=95.0;')"
refuses 'mix_policy.min_w = 300 is above max_w = 200' check ./run.cfg "$(set_ 'mix_policy={policy="slosh";min_w=300.0;max_w=200.0}')"
refuses 'forecast does nothing here' check ./run.cfg "$(set_ forecast.r_convec_scale=1.1)"
printf 'kernels = ( ); name = "m"; arrivals = { process = "trace"; file = "a.csv"; };\n' >trace.cfg
printf 'arrival_s,kernel,work_s,prio\n0,Cmem,1,2\n' >a.csv
refuses 'a.csv:1: unknown column "prio"; there is' check ./run.cfg "$(set_ mix=./trace.cfg)"
printf 'copper\nsolid\n400\n3.5e6\n' >m.materials
printf '%s\n' '-material_chip copper' '-materials_file m.materials' >>case.config
sed -i 's/^-k_chip/# &/; s/^-p_chip/# &/' case.config # the material counts, not a default
"$thermix" thermal -c case.config -f chip.flp -p power.ptrace 2>err.txt && ! grep commented err.txt || say "a number beside a material: $(cat err.txt)"
refuses 'k_chip does nothing: material_chip = copper' "${hot[@]}" -k_chip 1.3
quiet "${hot[@]}"
sed 's/^SM00\t/SM4294967296\t/; s/^SM00 /SM4294967296 /' "$root"/floorplans/gtx280/gtx280.flp >wide.flp
refuses "expected an SM's number up to 4095" check ./run.cfg "$(set_ floorplan=./wide.flp)"
sed 's/^SM01\b/SM0/' "$root"/floorplans/gtx280/gtx280.flp >two.flp
refuses "one SM's number in two ways" check ./run.cfg "$(set_ floorplan=./two.flp)"
cat >links.cfg <<'CFG'
name = "t"; cards = ( { name = "c"; } ); fans = ( { name = "f"; card = "c"; power_w = 5.0; min_rpm = 500.0; max_rpm = 3000.0; flow_m3_per_s = 0.01; } );
gpus = ( { name = "g"; card = "c"; chip = "gtx280"; } );
links = ( { name = "l"; bandwidth_gb_per_s = 1.0; }, { name = "l"; bandwidth_gb_per_s = 2.0; } );
CFG
refuses 'links: "l" is given twice' check ./links.cfg
refuses 'expected sides of 1e-6 m or more' floorplan scale "$root"/floorplans/gtx280/gtx280.flp --by 1e-300 -o x.flp
[ ! -e x.flp ] || say 'a floorplan of nothing was written'
sed 's/mixes = *\[/mixes = [ "WL1", "WL1",/' "$root"/workloads/suites/short.cfg >twice.cfg
refuses 'mixes: "WL1" is given twice' check ./twice.cfg
printf 'name = ""; base = "run.cfg"; axes = ( { key = "rows"; values = [8]; } );\n' >study.cfg
refuses 'name = "": expected a name' check ./study.cfg
sed 's/name = ""/name = "s"/' study.cfg >good.cfg
sed 's/axes = (/axes = ( { key = "rows"; values = [9]; },/' good.cfg >axes.cfg
refuses 'axes.cfg:1: key rows is on two axes' check ./axes.cfg
sed 's/$/ constraints = ( ("rows", ">", 100) );/' good.cfg >none.cfg
refuses 'none.cfg:1: the constraints leave no point' check ./none.cfg
printf 'parameter,gpu,value,status,note\nupstream,0,0,fitted,\nsink_k_per_w,0,-1,fitted,\n' >fit.csv
refuses 'fit.csv:3: sink_k_per_w of GPU 0 = -1: expected a number above 0' replay fit.csv "$root"/docs/examples/measured/card.csv
sed -i 's/-1/1/; $p' fit.csv
refuses 'fit.csv:4: sink_k_per_w of GPU 0 is given twice (first at line 3)' replay fit.csv "$root"/docs/examples/measured/card.csv
refuses '-o and --trace are both x.csv' replay fit.csv "$root"/docs/examples/measured/card.csv -o x.csv --trace ./x.csv

# a suite's names, values of the paper, studies and what is included
short=$root/workloads/suites/short.cfg
for m in hot_hot hot_cold; do sed 's/^name = .*/name = "same";/' "$root/workloads/mixes/$m.cfg" >"$m.cfg"; done
sed 's/^mixes = .*/mixes = ["hot_hot.cfg", "hot_cold.cfg"];/' "$short" >suite.cfg
refuses 'mixes: hot_hot.cfg and hot_cold.cfg are both called "same"' check ./suite.cfg
sed 's/^policies = ("BL",/policies = ("BL", "BL",/' "$short" >suite.cfg
refuses 'policies: "BL" is given twice' check ./suite.cfg
{ cat "$short"; echo 'variants = ( { name = "v"; }, { name = "v"; } );'; } >suite.cfg
refuses 'variants: "v" is given twice' check ./suite.cfg
{ cat "$short"; echo 'beside = ( { name = "b"; mix = "hot_hot"; policy = "BL"; }, { name = "b"; mix = "hot_cold"; policy = "BL"; } );'; } >suite.cfg
refuses 'beside: "b" is given twice' check ./suite.cfg
{ cat "$short"; echo 'values = ( { figure = "1"; quantity = "q"; origin = "unseen"; value = 1.0; band = 1.0; of = "hot_hot"; policy = "BL"; column = "energy_j";
  minus = { policy = "MU"; }; over = { policy = "A"; }; } );'; } >suite.cfg
refuses 'expected either minus or over' check ./suite.cfg
sed 's/values = \[8\]/values = [8, 9]/' good.cfg >s.cfg && sed 's/"s"/"t"/' s.cfg >t.cfg
sed -i "s,WL1,hot_hot, ; s,0.01,0.05," run.cfg
for s in s t; do quiet sweep "./$s.cfg" -q -j 1 -o "$s.db"; done
refuses 'no column "zz"; there are' query s.db --columns zz -o q.csv
[ ! -e q.csv ] || say 'query --columns writes a file'
refuses 'no column "zz"; there are' query s.db --columns zz
refuses 'no run has rows = 88, did you mean "8"?' query s.db --where rows=88
refuses 'another study: its name is "t", not "s"' merge s.db t.db -o m.db
ls m.db* 2>/dev/null && say 'a merge that failed leaves a file'
quiet sweep ./s.cfg -q --limit 1 -o m.db
"$thermix" query m.db --format csv >kept.csv
refuses 't.db: another study' merge s.db t.db -o m.db
"$thermix" query m.db --format csv | cmp -s - kept.csv || say 'a merge that failed changes what was there'
echo 'name = "late"; kernels = ( { kernel = "SVM"; work_s = 1.0; }, { kernel = "Cmem"; arrival_s = 2.0; work_s = 1.0; } );' >late.cfg
warns '1 of 2 kernels are there at its end' check ./run.cfg --set mix=./late.cfg "$(set_ warmup_s=1)"
"$thermix" check ./run.cfg --set mix=./late.cfg 2>&1 >/dev/null | grep warmup_s && say 'a warm-up that is none'
sed -i s,0.05,0.025, run.cfg && quiet sweep ./s.cfg -q --limit 1 -o u.db
refuses 'u.db: 2 points have other runs than in what is merged before it' merge s.db u.db -o n.db
printf 'chip = "gtx280";\n@include "absent.cfg"\n' >inc.cfg
refuses 'inc.cfg:2: @include "./absent.cfg": cannot open' check ./inc.cfg
printf '@include absent.cfg\n' >inc.cfg
refuses 'inc.cfg:1: expected @include "FILE"' check ./inc.cfg

exit $failed
