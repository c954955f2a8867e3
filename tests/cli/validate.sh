#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Measurements beside ours: every row that is out of its band has its reason in targets.csv, no reason is left over, the exit
# code and the last line say so, and a row without a reason is named.    validate.sh THERMIX [PART...]
. "$(dirname "$0")/begin.sh"
shift
code=0
"$thermix" validate -q "$@" -o v.csv > table.txt 2> err || code=$?
cat > check.py <<'P'
import csv, sys
rows = list(csv.DictReader(open("v.csv")))
missed = [r for r in rows if r["holds"] == "no"]
bad = [r for r in rows if abs(float(r["ours"] or "nan") - float(r["measured"] or "nan")) > float(r["bar"] or "inf")]
seen = [r["seen"] == "unseen" for r in rows]
assert seen == sorted(seen, reverse=True), "what was unseen does not come first"
assert rows and missed == bad, (missed, bad)
assert all(r["known"] for r in missed), [r for r in missed if not r["known"]]
assert all(r["seen"] == {"identity": "", "unseen": "unseen"}.get(r["origin"], "seen") for r in rows), "seen"
assert int(sys.argv[1]) == (1 if missed else 0), sys.argv[1]
err = open("err").read()
assert all(r["quantity"] in err for r in missed) and (not missed or err.rstrip().endswith("Not known: none")), err
given = {(r["what"], r["quantity"] or r["id"]) for r in csv.DictReader(open(sys.argv[2] + "/workloads/measured/targets.csv")) if r["known"] and r["part"] in {q["part"] for q in rows}}
assert given <= {(r["what"], r["quantity"]) for r in missed}, given # a reason whose row is in its band again
P
/usr/bin/python3 check.py "$code" "$root" || fail "$(cat err)"
if grep -q '^b200,' v.csv; then # an ambient that is held is the mean of those runs that were trained on, as calibrate has them
  log="$root/workloads/measured/b200_hgx8.csv.gz"
  "$thermix" calibrate "$log" --runs 0107_full_200w,0107_full_1000w --air none --ambient fit --no-check --no-figures -o held > out.txt
  air=$(awk -F, '$1 == "ambient_c" { sum += $4; n++ } END { printf "%.15g", sum / n }' held/fit.csv)
  "$thermix" replay held "$log" --runs '*full*' --ambient "$air" -o held.csv > out.txt
  /usr/bin/python3 -c 'import csv
worst = max(float(r["rmse_k"]) for r in csv.DictReader(open("held.csv")))
ours, = (float(r["ours"]) for r in csv.DictReader(open("v.csv")) if "full fans, first pair" in r["what"] and r["unit"] == "K")
assert abs(ours - worst) < 1e-6 * worst, (ours, worst)' || fail "the ambient that is held"
fi
if "$thermix" validate zeus walls > out.txt 2> err; then fail "a part that is none"; fi
grep -q 'unknown part "walls", expected one of b200, ' err || fail "which parts there are is not said: $(cat err)"
cp -r "$root/workloads" "$root/floorplans" "$root/systems" .
mkdir tests && cp -r "$root/tests/golden" tests # of two rows out of their bands one has its reason
sed '/^hotspot,hotspot_[BD]/s/,0.006,/,1e-9,/; /^hotspot,hotspot_B/s/"blocks.*worst"//; /^hotspot,hotspot_D/s/,identity,/&two decimals/' \
  "$root/workloads/measured/targets.csv" > workloads/measured/targets.csv
if THERMIX_DATA=. "$thermix" validate hotspot -q > out.txt 2> err; then fail "a row out of its band"; fi
grep -q '2 of 6 rows are out of their bands.*Not known: hotspot_B_hotblock$' err || fail "which row is out of its band is not said: $(cat err)"
# Data that slipped: a table without its column or rows, a target twice, or that nothing makes.
slips() { # the message, the part
  if THERMIX_DATA=. "$thermix" validate "$2" -q > out.txt 2> err; then fail "$1: $(cat out.txt)"; fi
  grep -q "$1" err || fail "$1: $(cat err)"
}
cd workloads/measured && cp "$root"/workloads/measured/targets.csv . && cd ../..
zcat "$root"/workloads/measured/b200_hgx8.csv.gz | awk -F, '$3 != 7' | gzip > workloads/measured/b200_hgx8.csv.gz
slips 'expected 8 GPUs in each run' b200
sed -i 's/ratio/Ratio/' workloads/measured/mlperf_v30_maxq.csv && slips 'maxq.csv:1: no column "ratio"' maxq
sed -i 's/Ratio/ratio/; 2,$d' workloads/measured/mlperf_v30_maxq.csv
sed -i 's/0\.05/1.0/g; $a rows = 8; cols = 8;' workloads/runs/maxq-*.cfg && slips 'maxq_mean: no number comes of mlperf' maxq
sed -i '/^accelwattch/{p;s/,0,/,x,/}' workloads/measured/targets.csv && slips 'measured "x", band' accelwattch
sed -i 's/,x,/,0,/' workloads/measured/targets.csv && slips '2 rows have the id "accelwattch_watts"' accelwattch
sed -i '0,/accelwattch_watts/s//accelwattch_what/' workloads/measured/targets.csv && slips 'makes "accelwattch_what"' accelwattch
echo "1 passed, 0 failed"
