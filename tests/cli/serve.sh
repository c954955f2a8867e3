#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A served language model from the command line: its files, the same requests from what was resolved, and a line for each thing that is
# wrong.    serve.sh THERMIX ROOT
set -uo pipefail
thermix=$1
export THERMIX_DATA=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
{ echo arrival_s,input_tokens,output_tokens; for i in $(seq 40); do echo "$((i / 4)).5,$((i * 211 % 3000 + 1)),$((i * 37 % 90 + 1))"; done; } >r.csv
cat >a.cfg <<'CFG'
chip = "a100";
gpus = 16;
seed = 1;
tick_s = 1.0;
quantum_s = 1.0;
serve = {
    model = "llama2-70b";
    heat = false;
    requests = { file = "r.csv"; };
};
CFG
bad=0
"$thermix" run a.cfg -o a -q || bad=1
"$thermix" run a/resolved.cfg -o b -q || bad=1
for f in requests.csv instances.csv summary.csv; do cmp "a/$f" "b/$f" || bad=1; done
[ "$(wc -l <a/requests.csv)" = 41 ] && [ "$(wc -l <a/instances.csv)" = 3 ] || { echo "rows are missing"; bad=1; }
"$thermix" check a.cfg --set policy=BL 2>&1 >out.txt | grep 'without effect' && bad=1
"$thermix" check a.cfg --set policy=MU 2>&1 >out.txt | grep -q 'without effect: policy' || bad=1
"$thermix" run a.cfg --seeds 2 --format csv >seeds.csv && grep -q '^tokens_per_s,' seeds.csv && ! grep -q '^peak_temp_c\|-273' seeds.csv || { cat seeds.csv; bad=1; }
"$thermix" explain a --set serve.limits.ttft_s=0.2 >why.txt || bad=1
awk '$1 == "ttft" { ok = $2 == 0.2 && $3 > 0 && $5 + $6 > 0 && $7 == 0 } END { exit !ok }' why.txt || { cat why.txt; bad=1; }
{ "$thermix" check a.cfg && "$thermix" check "$THERMIX_DATA/workloads/llms/llama2-70b.cfg"; } >out.txt
grep -q "budget_w" out.txt && grep -q "language model of 6 phases" out.txt || { cat out.txt; bad=1; }
refused() { # refused WORDS [--set ...]: exit code 2 and these words
  words=$1
  shift
  "$thermix" run a.cfg "$@" >out.txt 2>err.txt
  [ $? = 2 ] && grep -q "$words" err.txt || { echo "expected \"$words\" and got: $(cat err.txt)"; bad=1; }
}
refused "has no phase of a100 at tp = 16; it has a100 at 2" --set serve.tp=16
refused "did you mean \"llama2-70b\"" --set serve.model=llama2-71b
refused "the 12 GPUs are not groups of 8" --set gpus=12
refused "request 1: .* exceed the 0 that an instance's cache holds" --set serve.kv_util=0.1
# A calibrated node has a card a GPU: an instance may span them, but not nodes.
node() { # node NODES CARD...: one GPU a card
  nodes=$1
  shift
  echo "name = \"n\"; doc = \"a card a GPU\"; source = \"test\"; nodes = $nodes; inlet_c = 25.0;"
  for c in "$@"; do echo "{ name = \"$c\"; fit_a_k_per_w = 0.1; fit_b_k_per_w = 0.0; fit_exponent = 0.8; still_k_per_w = 1.0; still_flow_m3_per_s = 0.001; }"; done | paste -sd, | sed 's/.*/cards = ( & );/'
  for c in "$@"; do echo "{ name = \"f$c\"; card = \"$c\"; min_rpm = 1000.0; max_rpm = 2000.0; power_w = 0.0; flow_m3_per_s = 0.05; noise_dba = 0.0; }"; done | paste -sd, | sed 's/.*/fans = ( & );/'
  for c in "$@"; do echo "{ name = \"g$c\"; chip = \"a100\"; card = \"$c\"; }"; done | paste -sd, | sed 's/.*/gpus = ( & );/'
}
node 1 a b >two.cfg
node 2 a >apart.cfg
{ echo 'topology = "two.cfg"; fan_period_s = 1.0;'; sed '/^chip/d; /^gpus/d' a.cfg; } >spans.cfg
"$thermix" run spans.cfg --set serve.tp=2 --set fan.policy=fixed -o spans -q && [ "$(wc -l <spans/instances.csv)" = 2 ] || { echo "an instance over two cards"; bad=1; }
"$thermix" run spans.cfg --set serve.tp=2 --set fan.policy=fixed --set 'topology="apart.cfg"' -q 2>err.txt
[ $? = 2 ] && grep -q "the 2 GPUs are not groups of 2, alike and in one node" err.txt || { cat err.txt apart.cfg; bad=1; }
refused "row.budget_w = 2000 W is less than the idle servers" --set row.budget_w=2000.0
refused "row policy polca: expected row.budget_w" --set row.policy=polca
refused "row.telemetry_s = 1.5 s is not a multiple of tick_s" --set row.telemetry_s=1.5
refused "3 instances for prompts and 0 for tokens" --set serve.pools.prompt=3
refused "mix does nothing here" --set mix=WL1
refused "hotspot with serve.heat = false" --hotspot 1 -o traced
# Rows over time: at the telemetry's period their largest power is the summary's; the brake is in them for as long as there; figures.
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }
traced() { # traced FOLDER PEAKS [--set ...]: the row's peak is in PEAKS of its telemetries
  to=$1
  shift
  "$thermix" run a.cfg "$@" --trace 2 -o "$to" -q || bad=1
  peak=$(column "$to/rows.csv" power_w | sort -g | tail -1)
  awk -v a="$peak" -v b="$(column "$to/summary.csv" row_peak_w)" 'BEGIN { exit !(a > 5000 && (a - b) ^ 2 < 1e-10 * b * b) }' ||
    { echo "$to: rows.csv has a peak of $peak W, the summary $(column "$to/summary.csv" row_peak_w)"; bad=1; }
}
traced free
traced braked --set row.budget_w=5200.0 --set row.brake_hold_s=4.0
[ -z "$(column free/rows.csv budget_w | grep .)" ] && [ -z "$(column free/rows.csv hottest_c | grep .)" ] || { head -2 free/rows.csv; bad=1; }
slow=$(column braked/rows.csv braked | grep -c 1)
awk -v rows="$slow" -v s="$(column braked/summary.csv brake_s)" 'BEGIN { exit !(rows > 0 && (2 * rows - s) ^ 2 <= 4) }' ||
  { echo "$slow rows of 2 s under a brake of $(column braked/summary.csv brake_s) s"; bad=1; }
paste -d' ' <(column braked/rows.csv braked) <(column braked/rows.csv high_mhz) | grep -v '^1 285$' | grep -qv '^0 1410$' &&
  { echo "clocks and brake disagree"; bad=1; }
traced hot --set serve.heat=true --set method=lumped --set tick_s=0.5 --set sensor.period_s=0.5 --set 'row.policy="polca"' --set row.step_s=1.0 \
  --set row.budget_w=6500.0 --set row.brake=false --set row.oob_s=2.0
[ "$(column hot/rows.csv hottest_c | sort -g | tail -1 | cut -d. -f1)" -ge 34 ] && column hot/rows.csv capped_pct | grep -qx 100 ||
  { echo "neither heat nor caps in the row's trace"; bad=1; }
"$thermix" run a.cfg --trace 5 -o metrics --format openmetrics >out.txt && grep -q '^thermix_power_w [1-9]' out.txt || { head -3 out.txt; bad=1; }
for run in free braked hot; do "$thermix" plot "$run" -o "$run/figures" -q || bad=1; done
"$thermix" plot a -o a/figures >out.txt && grep -q latency.svg out.txt && ! grep -q row_power out.txt || { cat out.txt; bad=1; }
for figure in free/figures/row_power braked/figures/row_power hot/figures/row_power hot/figures/places a/figures/latency; do
  [ -s "$figure.svg" ] || { echo "no $figure.svg"; bad=1; }
done
grep -q '>brake<' braked/figures/row_power.svg && grep -q '>t2<' hot/figures/row_power.svg && ! grep -q '>budget<' free/figures/row_power.svg ||
  { echo "marks of the row's power"; bad=1; }
# half of the requests take longer than the median
awk -F, -v half="$(column a/summary.csv ttft_p50_s)" '$1 == "ttft" && $4 <= 50 && !seen { seen = 1; ok = ($3 - half) ^ 2 < 1e-3 } END { exit !ok }' a/figures/data/latency.csv ||
  { echo "the curve's median is not $(column a/summary.csv ttft_p50_s)"; bad=1; }
"$thermix" report braked -o braked.html >/dev/null && grep -q '"name":"row_power"' braked.html || { echo "no row in the report"; bad=1; }
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["energy_j"] $c["mean_temp_c"] $c["peak_temp_c"] != "" { exit 1 }' a/gpus.csv || { echo "degrees and joules of dies that are not computed"; bad=1; }
refused "no such file; looked for requests/none.csv, also in thermix's data" --set 'serve.requests.file="requests/none.csv"'
"$thermix" run a.cfg --set 'serve.requests.file="workloads/requests/azure_conv_2023.csv"' --set serve.requests.count=9 -q || bad=1
refused "the run has no topology with racks" --set 'row.rows="rack"'
refused 'serve.limits.alone_on = "a10": model llama2-70b has no phase of a10 at tp = 8' --set 'serve.limits.alone_on="a10"'
refused "high priority; serve.high_servers = 0.5 of 2 instances leaves none of the prompts' pool" --set serve.class_servers=true \
  --set serve.pools.prompt=1 --set serve.pools.token=1
refused "rate_per_s = 1e-300: 1 requests take 1e+300 s" --set 'serve.requests={process="poisson";sizes="r.csv";rate_per_s=1e-300;count=1}'
refused "needs about 9.6 GB of memory" --set 'serve.requests={process="poisson";sizes="r.csv";rate_per_s=1000.0;count=100000000}' --max-gb 1
"$thermix" run a.cfg --set 'serve.requests.file="a/requests.csv"' -q 2>err.txt || { cat err.txt; bad=1; } # own output is accepted
"$thermix" run a.cfg --set 'serve.requests.file="a/requests.csv"' --set serve.requests.high=0.5 -q 2>&1 | grep 'high = 0.5 does nothing: every request has a class' >/dev/null || { echo "high beside classes"; bad=1; }
grep -q 'a/requests.csv: columns without an effect: instance, token_instance, ttft_s, e2e_s, beyond_fit' err.txt || { cat err.txt; bad=1; }
printf 'arrival_s,input_tokens,output_tokens\n1700000000,10,5\n1700000003,10,5\n' >epoch.csv
refused 'the first request arrives at 1.7e+09 s, later than the trace is long (3 s)' --set 'serve.requests.file="epoch.csv"'
grep -q '1.7e+09 ticks of 1 s .*needs about' err.txt || { echo "idle ticks cost nothing: $(cat err.txt)"; bad=1; }
# Columns asked for are of one table: the summary's where it has them all.
"$thermix" run a.cfg --columns energy_j --format csv 2>/dev/null | tail -1 | grep -qx "$(column a/summary.csv energy_j)" || { echo "--columns energy_j"; bad=1; }
"$thermix" run a.cfg --columns energy_j | tail -1 | grep -q "$(column a/summary.csv energy_j | cut -d. -f1)" || { echo "--columns energy_j of people"; bad=1; }
refused "some are of the summary, others of its instances" --columns busy_s,row_peak_w
refused "unknown route policy \"token\", did you mean \"tokens\"" --set route.policy=token
refused "of low priority; serve.high_servers = 1" --set serve.class_servers=true --set serve.high_servers=1.0 --set serve.requests.high=0.0
if ! "$thermix" bound a.cfg --format csv >bound.csv 2>err.txt && grep -q "built without GLPK" err.txt; then exit $bad; fi
"$thermix" bound a.cfg --max-minutes 1e-4 2>err.txt
[ $? = 2 ] && grep -q "a linear programme of .* rows): needs about .* allows it" err.txt || { cat err.txt; bad=1; }
"$thermix" bound serve-row --set 'inlet=({time_s=0.0;inlet_c=45.0;},{time_s=9.0;inlet_c=25.0;})' 2>err.txt
[ $? = 2 ] && grep -q "the inlet changes" err.txt || { cat err.txt; bad=1; }
"$thermix" bound a.cfg --reached --format csv >reached.csv || bad=1
# an open trace: the policy keeps up with it, below the bound; the certificate is round-off
awk -F, 'NR == 2 { ok = $3 > 0 && $5 < 1e-6 } END { exit !ok }' bound.csv || { cat bound.csv; bad=1; }
awk -F, 'NR == 2 { ok = $18 > 0 && $19 < 100 && $9 > 0 } END { exit !ok }' reached.csv || { cat reached.csv; bad=1; }
for policy in policy=MU dtm.policy=none route.policy=jsq row.policy=none; do
  "$thermix" bound a.cfg --set $policy 2>err.txt
  [ $? = 2 ] && grep -q "$policy: a bound holds for every policy and depends on none" err.txt || { cat err.txt; bad=1; }
done
# prompts above the budget and so short that sequences ride beside them in no time: no run passes the bound
{ echo arrival_s,input_tokens,output_tokens; for _ in $(seq 2000); do echo 0,130,65; done; } >lone.csv
"$thermix" bound a.cfg --set 'serve.requests.file="lone.csv"' --set serve.scheduler.budget=100 --set serve.scheduler.max_preempt=0 --set serve.scheduler.max_batch=64 \
  --reached --format csv >lone.txt || bad=1
awk -F, 'NR == 2 { ok = $19 > 95 && $19 < 100 && $15 > 99.9 } END { exit !ok }' lone.txt || { cat lone.txt; bad=1; }
{ echo arrival_s,input_tokens,output_tokens; echo 0,130,1; } >first.csv # no iteration is of tokens alone
"$thermix" bound a.cfg --set 'serve.requests.file="first.csv"' --format csv | awk -F, 'NR == 2 { exit !($3 > 0 && $17 == "") }' || { echo "a batch of no tokens"; bad=1; }
"$thermix" bound a.cfg --one-level 2>err.txt
[ $? = 2 ] && grep -q -e "--sm-leak do nothing for a.cfg, which serves" err.txt || { cat err.txt; bad=1; }
"$thermix" bound a.cfg --limit 60 2>err.txt
[ $? = 2 ] && grep -q -e "--limit: serve.heat = false computes no temperatures" err.txt || { cat err.txt; bad=1; }
awk -F, 'NR == 2 { exit !($6 == "" && $7 == "") }' bound.csv || { echo "limits of temperatures that there are not"; bad=1; }
"$thermix" bound a.cfg --tbt 1e-4 2>err.txt
[ $? = 1 ] && grep -q "the bound is 0: within these limits no request is served" err.txt || { cat err.txt; bad=1; }
"$thermix" bound WL1 --reached 2>err.txt
[ $? = 2 ] && grep -q "WL1 does not" err.txt || { cat err.txt; bad=1; }
sed -i '/^serve/,$d' a.cfg
refused "route does nothing here: no language model" --set mix=WL1 --set route.policy=jsq
refused "missing key \"mix\" (a workload), or group serve"
exit $bad
