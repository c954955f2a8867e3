#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of other tools, there and back.    doors.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
export THERMIX_DATA=$root
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
say() { echo "FAILED: $*"; exit 1; }
refuses() { # refuses WORDS COMMAND...: exit code 2 and a message
  local words=$1
  shift
  "$thermix" "$@" >out.txt 2>err.txt
  [ $? = 2 ] || say "$*: exit code is not 2"
  grep -qF -- "$words" err.txt || say "$*: no \"$words\" in: $(cat err.txt)"
}

# AccelWattch's report of kernels, written as its source writes it from the watts of the 26 kernels of this tree: the imported
# kernels are those. Two launches of each, 10 % above and below; what the tables add up is apart again, 3 to 7.
kernels=$root/workloads/measured/accelwattch_volta_kernels.csv
awk -F, -v report=report.log -v trace=trace.log '
  BEGIN { n = split("IBP,ICP,DCP,TCP,CCP,SHRDP,RFP,INTP,FPUP,DPUP,INT_MUL24P,INT_MUL32P,INT_MULP,INT_DIVP,FP_MULP,FP_DIVP,FP_SQRTP,FP_LGP,FP_SINP,FP_EXP,DP_MULP,DP_DIVP,TENSORP,TEXP,SCHEDP,L2CP,MCP,NOCP,DRAMP,PIPEP,IDLE_COREP,CONSTP,STATICP", label, ",")
    printf "power," >trace; for (i = 1; i <= n; i++) printf "%s%s", label[i], i < n - 1 ? "," : "" >trace; print "" >trace }
  FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
  { name = $c["kernel"]; gsub(/-rodinia-3.1|parboil-|[+-]/, "", name)
    for (i = 1; i <= n; i++) w[label[i]] = label[i] "_W" in c ? $c[label[i] "_W"] : 0
    w["MCP"] = 0.3 * w["DRAMP"]; w["DRAMP"] *= 0.7; w["NOCP"] = 0.3 * w["L2CP"]; w["L2CP"] *= 0.7
    w["INT_MUL32P"] = 0.3 * w["INT_MULP"]; w["INT_MULP"] *= 0.7; total = 0
    for (i = 1; i <= n; i++) total += w[label[i]]
    for (launch = 1; launch <= 2; launch++) { f = launch == 1 ? 1.1 : 0.9
      printf "kernel_name = aw_%s \nkernel_launch_uid = %d \n\nKernel Average Power Data:\nkernel_avg_power = %.9g\n", name, ++uid, f * total >report
      for (i = 1; i <= n; i++) printf "gpu_avg_%s%s = %.9g\n", label[i], i < n - 1 ? "," : "", f * w[label[i]] >report
      printf "gpu_avg_TOT_INST, = 17\n\nKernel Maximum Power Data:\nkernel_max_power = 1\ngpu_max_IBP, = 1\n\n\n" >report }
    printf "%.9f,", total >trace; for (i = 1; i <= n; i++) printf "%.9f,", w[label[i]] >trace; print "" >trace }' "$kernels"
"$thermix" power import report.log -o kernels --format csv >kernels.csv || say "import of a report"
[ "$(wc -l <kernels.csv)" = 27 ] || say "not 26 kernels: $(cat kernels.csv)"
for k in "$root"/workloads/kernels/aw_*.cfg; do
  "$thermix" check "kernels/${k##*/}" >/dev/null || say "the imported ${k##*/} is no kernel"
  awk '$1 ~ /_w$/ { sub(";", "", $3); FNR == NR ? ours[$1] = $3 : theirs[$1] = $3 }
    END { for (i in ours) if ((d = ours[i] - theirs[i]) > 1e-4 || d < -1e-4) exit 1
      for (i in theirs) if (!(i in ours)) exit 1 }' "$k" "kernels/${k##*/}" || say "${k##*/}: other watts: $(diff "$k" "kernels/${k##*/}")"
done
head -20 report.log >cut.log
refuses 'the report is cut' power import cut.log -o cut
sed 's/^gpu_avg_RFP, = .*/gpu_avg_RFP, = 900/' report.log >sum.log
refuses 'sum.log:1: the components add up to' power import sum.log -o sum
refuses 'needs -o PATH' power import report.log
refuses 'chip does nothing' power import report.log --chip v100 -o x
sed '/^gpu_avg_NOCP/{p;s/NOCP.*/NOC2P, = 0.001/}' report.log >second.log # nothing is lost, however small
refuses 'unknown component NOC2P = 0.001 W' power import second.log -o x
sed '0,/^gpu_avg_NOCP/{/^gpu_avg_NOCP/d}' report.log >short.log
refuses "no NOCP of the kernel's average power" power import short.log -o x
sed '0,/^gpu_avg_NOCP/{/^gpu_avg_NOCP/p}' report.log >double.log
refuses '"NOCP" again for this kernel' power import double.log -o x
{ echo 'kernel_name = old'; echo 'kernel_avg_power = 19'; for l in IBP ICP DCP TCP CCP SHRDP RFP SPP SFUP FPUP SCHEDP L2CP MCP NOCP DRAMP PIPEP IDLE_COREP; do
  echo "gpu_avg_$l, = 1"; done; echo 'gpu_avg_CONST_DYNAMICP = 2'; echo 'gpu_avg_SFU_ACC, = 5'; } >gpuwattch.log # its predecessor
"$thermix" power import gpuwattch.log -o old --format csv | tail -1 | grep -qx 'old,1,19,13,2,2,0,2' || say "GPUWattch: $("$thermix" power import gpuwattch.log -o old --format csv)"
refuses 'neither AccelWattch' power import "$kernels" -o x

# Its power trace, gzip, without a time, the last two labels run together: watts of units with the same sum, for thermix thermal
gzip trace.log
"$thermix" power import trace.log.gz --chip v100 -o power.ptrace --format csv >/dev/null || say "import of a trace"
zcat trace.log.gz | awk -F, 'FNR == NR { if (FNR > 1) total[FNR] = $1; next }
  { if (FNR > 1) { sum = 0; for (i = 1; i <= NF; i++) sum += $i; if (sum - total[FNR] > 1e-6 || total[FNR] - sum > 1e-6) exit 1; n++ } }
  END { if (n != 26) exit 1 }' - FS='\t' power.ptrace || say "the units do not add up to the samples"
awk -F, 'FNR == NR { if (FNR == 1) { for (i = 1; i <= NF; i++) c[$i] = i } else hbm[FNR] = 0.65 * $c["DRAMP_W"] + 0.25 * $c["CONSTP_W"]; next }
  FNR == 1 { for (i = 1; i <= NF; i++) stack[i] = $i ~ /^HBM[0-9]/; next }
  { sum = 0; for (i in stack) if (stack[i]) sum += $i; if (sum - hbm[FNR] > 1e-5 || hbm[FNR] - sum > 1e-5) exit 1 }' "$kernels" FS='\t' power.ptrace ||
  say "the stacks do not get 0.65 of the memory's and 0.25 of the constant watts, as chip.cfg has it"
cp "$root/floorplans/v100/v100.flp" .
"$thermix" thermal -c "$root/floorplans/v100/package.config" -f v100.flp -p power.ptrace -sampling_intvl 1e-3 -o temps.ttrace -grid_rows 16 -grid_cols 16 --quiet ||
  say "thermix thermal with the imported trace"
[ "$(wc -l <temps.ttrace)" = 27 ] || say "not a row of temperatures for each sample"
refuses 'needs --chip' power import trace.log.gz -o x.ptrace
zcat trace.log.gz | sed 's/RFP,/RFX,/' >header.log
refuses 'header.log:1: expected the header' power import header.log --chip v100 -o x.ptrace
zcat trace.log.gz | sed '3s/,[^,]*,$/,/' >short.log
refuses 'short.log:3: 33 values' power import short.log --chip v100 -o x.ptrace
[ ! -e x.ptrace ] || say "a trace of a refused file"

# HotSniper's power log (made from McPAT's watts) is a power trace as it is: tabs, one behind the last, too.
printf 'C0\t0.004\t0.008\t0\t0\nC1\t0.004\t0.008\t0.004\t0\n' >two.flp
printf 'C0\tC1\t\n1.5\t2.25\t\n3.0\t0.5\t\n' >PeriodicPower.log
sed 's/\t$//' PeriodicPower.log >plain.ptrace
for p in PeriodicPower.log plain.ptrace; do
  "$thermix" thermal -f two.flp -p $p -model_type grid -grid_rows 8 -grid_cols 8 -o $p.ttrace --quiet || say "thermal -p $p"
done
cmp -s PeriodicPower.log.ttrace plain.ptrace.ttrace || say "HotSniper's power log gives other temperatures"

# Accel-Sim 2.0: the packed trace is refused by name, the text that its own tool writes is read
printf 'X\0Y' >kernel-1.tracez
refuses 'traceDsm' gate --convert kernel-1.tracez -o x
refuses 'traceDsm' gate BP --trace kernel-1.tracez
sed 's/insts = 8/insts = 9/' "$root/tests/fuzz/corpus/accelsim/kernel.traceg" >one.traceg
sed 's/^thread block = .*/&\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0/' one.traceg >two.traceg
"$thermix" gate --convert two.traceg -o two.trace >/dev/null && "$thermix" gate --convert one.traceg -o one.trace >/dev/null ||
  say "a .traceg of Accel-Sim 2.0"
cmp -s one.trace two.trace || say "lines of clusters change the trace"

# A run for other viewers. What is checked is what a viewer needs: events of JSON whose slices do not overlap and whose times are not
# below 0, cells that hold the trace's own numbers, samples of a metric together and in order.
cat >run.cfg <<'CFG'
chip = "gtx280"; gpus = 2; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; warmup_s = 5.0; rows = 8; cols = 8;
CFG
echo 'name = "two"; kernels = ( { kernel = "SVM"; work_s = 5.0; count = 2; }, { kernel = "Cmem"; work_s = 3.0; arrival_s = 1.0; count = 2; } );' >mix.cfg
"$thermix" run run.cfg --set throttle.trip_c=70 --set throttle.release_c=69 -o run --trace 0.5 --hotspot 0.5 --format openmetrics >run.om || say "run"
"$thermix" run run.cfg --set warmup_s=1000 --set tick_s=0.0625 -o late --trace 0.0625 -q && sed -n 2p late/trace.csv | grep -q '^-999.9375,' || say "times of a trace lose digits"
"$thermix" export run -o run.json || say "export of a timeline"
"$thermix" export run -o run.vtk --at 3 || say "export of VTK"
refuses '--at 99999: the record goes from' export run -o run.vtk --at 99999
"$thermix" export run -o one.json --gpu 1 || say "export of one GPU"
refuses 'expected X.json' export run -o run.txt
refuses 'the run has GPUs 0 to 1' export run -o two.json --gpu 2
"$thermix" thermal -c run/thermal.config -f run/floorplan_gpu0.flp -p run/power_gpu0.ptrace -grid_steady_file stack.vtk -steady_file stack.steady --quiet ||
  say "thermal with a steady grid as VTK"
refuses 'a VTK file has one moment' thermal -c run/thermal.config -f run/floorplan_gpu0.flp -p run/power_gpu0.ptrace -grid_transient_file x.vtk
awk 'FNR == NR { if ($1 !~ /_/ && $2 > hot) hot = $2; next } /^SCALARS/ { on = $2 == "temp_k" } on && NF > 1 && $1 + 0 > 200 { n += NF; for (i = 1; i <= NF; i++) if ($i > max) max = $i }
  END { exit !(n == 8 * 8 * 4 && max >= hot && max < hot + 3) }' stack.steady stack.vtk || say "stack.vtk is not the steady state"
"$thermix" calibrate "$root/docs/examples/measured/card.csv" -o mine >calibrate.txt 2>&1 && "$thermix" replay mine "$root/docs/examples/measured/card.csv" \
  --format openmetrics >replay.om 2>/dev/null || say "replay as OpenMetrics"
for f in run.om replay.om; do
  awk '/^# EOF/ { eof = NR; next } /^# TYPE/ { if ($3 in seen) exit 1; seen[$3] = 1; name = $3; next }
    { split($0, part, "} "); split(part[2], v, " "); if (index($0, name "{") != 1 || v[2] < 0) exit 1
      if (part[1] == last ? v[2] <= time : part[1] in done) exit 1; done[part[1]] = 1; last = part[1]; time = v[2]; n++ }
    END { exit !(eof == NR && n > 500) }' $f || say "$f: not OpenMetrics"
done
grep -q '^thermix_measured_c{run="card",gpu="0"} 32 1736251200$' replay.om || say "a replay without the log's own times: $(grep -m1 measured_c{ replay.om)"
command -v python3 >/dev/null || exit 0
python3 - <<'PY' || say "what other viewers read is not the run"
import csv, json
for name, gpus in (("run.json", {0, 1}), ("one.json", {1})):
    events = json.load(open(name))["traceEvents"]
    assert {e["pid"] for e in events if e["ph"] != "i"} == gpus, name
    assert min(e.get("ts", 0) for e in events) == 0
    ends = {}
    for e in events:
        if e["ph"] == "X":
            key = e["pid"], e["tid"]
            assert e["dur"] > 0 and e["ts"] >= ends.get(key, 0) - 1e-3, e
            ends[key] = e["ts"] + e["dur"]
    stopped = sum(e["dur"] for e in events if e["ph"] == "X" and e["name"] == "clock stopped") / 1e6
    rows = [r for r in csv.DictReader(open("run/trace.csv")) if int(r["gpu"]) in gpus]
    assert abs(stopped - 0.5 * sum(float(r[k]) > 0.5 for r in rows for k in r if k.endswith("_gated"))) < 1e-6 and stopped > 0, stopped
    hottest = [e["args"]["degC"] for e in events if e["ph"] == "C" and e["name"] == "hottest"]
    assert hottest == [float(r["hottest_c"]) for g in sorted(gpus) for r in rows if int(r["gpu"]) == g], name
    kernels = [r for r in csv.DictReader(open("run/kernels.csv")) if int(r["gpu"]) in gpus]
    begun = [e for e in events if e["ph"] == "b" and not e["name"].endswith(" waits")]
    assert sorted(e["name"] for e in begun) == sorted(r["kernel"] for r in kernels)
    assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events)
lines = open("run.vtk").read().split("\n")
at = lines.index("SCALARS temp_c double 1") + 2
temps = [t.rstrip("\n").split("\t") for t in open("run/temps_gpu0.ttrace")]
row = next(r for r in range(1, len(temps)) if abs(0.5 * r - 5 - 3) < 1e-9)
n = len(temps[0])
assert all(abs(float(lines[at + u]) - (float(temps[row][u]) - 273.15)) < 1e-6 for u in range(n))
assert lines[lines.index("LOOKUP_TABLE default") + 1] == lines[at] and f"CELL_TYPES {2 * n}" in lines
metrics = [l for l in open("run.om") if l.startswith("thermix_sm_temp_c{gpu=\"1\",sm=\"3\"}")]
rows = [r for r in csv.DictReader(open("run/trace.csv")) if r["gpu"] == "1" and float(r["time_s"]) >= 0]
assert [float(l.split()[1]) for l in metrics] == [float(r["sm3_temp_c"]) for r in rows] and rows
PY
