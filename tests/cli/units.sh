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
refuses 'is it 0.15 mm = 0.00015 m?' "${hot[@]}" -t_chip 0.15
refuses 'is it 0.02 mm = 2e-05 m?' "${hot[@]}" -t_interface 0.02
refuses 'is it 300 mK/W = 0.3 K/W?' "${hot[@]}" -r_convec 300
warns 'above 500 degC' "${hot[@]}" -r_convec 300 --accept
warns 'above 500 degC' "${hot[@]}" -r_convec 50 -o o.ttrace -init_temp 900
warns 'is it 10 ms = 0.01 s?' "${hot[@]}" -sampling_intvl 10
warns 'too coarse for' "${hot[@]}" -grid_rows 2 -grid_cols 2
sed 's/-t_chip.*/-t_chip 0.15/' case.config >slip.config
refuses 'slip.config:1: t_chip = 0.15 m' thermal -c slip.config -f chip.flp -p power.ptrace
awk 'NR == 1 { print; next } { for (i = 1; i <= NF; i++) $i /= 1000; print }' power.ptrace >kw.ptrace
warns 'is it 177.98 kW/m2' thermal -c case.config -f chip.flp -p kw.ptrace --quiet
sed '2s/^[^ \t]*/-4000/' power.ptrace >cold.ptrace
warns 'below its ambient' thermal -c case.config -f chip.flp -p cold.ptrace --quiet -o cold.ttrace

exit $failed
