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
refused "row.budget_w = 2000 W is less than the idle servers" --set row.budget_w=2000.0
refused "row policy polca: expected row.budget_w" --set row.policy=polca
refused "row.telemetry_s = 1.5 s is not a multiple of tick_s" --set row.telemetry_s=1.5
refused "3 instances for prompts and 0 for tokens" --set serve.pools.prompt=3
refused "mix does nothing here" --set mix=WL1
refused "no trace with serve.heat = false" --trace 1 -o traced
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["energy_j"] $c["mean_temp_c"] $c["peak_temp_c"] != "" { exit 1 }' a/gpus.csv || { echo "degrees and joules of dies that are not computed"; bad=1; }
refused "no such file; looked for requests/none.csv, also in thermix's data" --set 'serve.requests.file="requests/none.csv"'
"$thermix" run a.cfg --set 'serve.requests.file="workloads/requests/azure_conv_2023.csv"' --set serve.requests.count=9 -q || bad=1
refused "the run has no topology with racks" --set 'row.rows="rack"'
refused "unknown route policy \"token\", did you mean \"tokens\"" --set route.policy=token
refused "of low priority; serve.high_servers = 1" --set serve.class_servers=true --set serve.high_servers=1.0 --set serve.requests.high=0.0
if ! "$thermix" bound a.cfg --format csv >bound.csv 2>err.txt && grep -q "built without GLPK" err.txt; then exit $bad; fi
"$thermix" bound a.cfg --reached --format csv >reached.csv || bad=1
# an open trace: the policy keeps up with it, below the bound; the certificate is round-off
awk -F, 'NR == 2 { ok = $3 > 0 && $5 < 1e-6 } END { exit !ok }' bound.csv || { cat bound.csv; bad=1; }
awk -F, 'NR == 2 { ok = $18 > 0 && $19 < 100 && $9 > 0 } END { exit !ok }' reached.csv || { cat reached.csv; bad=1; }
"$thermix" bound WL1 --reached 2>err.txt
[ $? = 2 ] && grep -q "WL1 does not" err.txt || { cat err.txt; bad=1; }
sed -i '/^serve/,$d' a.cfg
refused "route does nothing here: no language model" --set mix=WL1 --set route.policy=jsq
refused "missing key \"mix\" (a workload), or group serve"
exit $bad
