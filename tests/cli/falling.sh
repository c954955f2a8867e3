#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# falling.sh THERMIX: conductivities that fall with temperature (conductivity_falls), against Kirchhoff's transform, and over time.
set -uo pipefail
thermix=$1 bad=0
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
say() { echo "FAILED: $*"; bad=1; }
cd "$here" || exit 1

# Heat that flows one way: 300 W through 0.5 mm of a die of 10 x 10 mm, one block, film of 0.1 K/W on its upper face.
printf 'all 0.01 0.01 0 0\n' >one.flp
printf 'all\n300\n300\n' >power.ptrace
stack() { # FALLS: the layer that heats, thin, and five which resist: one has the conductivity of its middle
  printf '0\nY\nY\n1.63e6\n0.0067\n1e-6\none.flp\n'
  for l in 1 2 3 4 5; do printf '%s\nY\nN\n1.63e6\n0.0067\n1e-4\none.flp\n%s\n' $l "$1"; done
}
run() { # OPTION...
  "$thermix" thermal -grid_layer_file stack.lcf -p power.ptrace -f one.flp -s_spreader 0.01 -s_sink 0.01 -t_spreader 1e-8 -t_sink 1e-8 -r_convec 0.1 \
    -c_convec 0 -ambient 300 -init_temp 300 -grid_rows 4 -grid_cols 4 --network physical --precision 6 --quiet "$@" 2>err || { cat err; return 1; }
}
stack 'conductivity_falls 1.5 300' >stack.lcf
run -steady_file out.steady || say "steady: $(cat err)"
# layer 0 ends 300 W * 0.1 K/W above ambient plus its own 1 um; k (T/300)^-1.5 integrates to -2 k 300^1.5 (T^-0.5) on both sides
awk '$1 == "layer_0_all" { got = $2 }
     END { k = 1 / 0.0067; q = 300 / 1e-4; low = 300 + 300 * 0.1
           c = 2 * k * 300 ^ 1.5; want = (1 / sqrt(low) - q * 5e-4 / c) ^ -2 + q * 5e-7 * 0.0067
           linear = low + q * 5e-4 / k; d = got - want; if (d < 0) d = -d
           print "Kirchhoff " want ", here " got ", constant " linear; exit !(d < 0.002 && want - linear > 0.9) }' out.steady || say "Kirchhoff"
# constant: the same without the line, and with an exponent that does nothing
stack 'conductivity_falls 0.001 300' >stack.lcf
run -steady_file nearly.steady || say "$(cat err)"
stack '' >stack.lcf
run -steady_file constant.steady || say "$(cat err)"
paste nearly.steady constant.steady | awk '{ d = $2 - $4; if (d < 0) d = -d; if (d > 0.01) exit 1 }' || say "an exponent of nearly nothing"

# Over time: a hot block beside a cold one, rows of 2 ms and of 0.2 ms, and the end is the steady state.
printf 'hot 0.004 0.01 0 0\ncold 0.006 0.01 0.004 0\n' >two.flp
sed 's/one.flp/two.flp/' <(stack 'conductivity_falls 1.5 300') >stack.lcf
rows() { printf 'hot\tcold\n'; for _ in $(seq "$1"); do printf '200\t0\n'; done; }
rows 100 >power.ptrace
run -o coarse.ttrace -steady_file end.steady -sampling_intvl 2e-3 --method grid || say "$(cat err)"
rows 10 >power.ptrace
run -o short.ttrace -sampling_intvl 2e-3 --method grid || say "$(cat err)"
rows 100 >power.ptrace
run -o fine.ttrace -sampling_intvl 2e-4 --method grid || say "$(cat err)"
awk 'FNR == 1 { file++ } { last[file] = $1 } END { d = last[1] - last[2]; if (d < 0) d = -d; print "20 ms: rows of 2 ms " last[1] ", of 0.2 ms " last[2]; exit !(d < 0.05) }' \
  short.ttrace fine.ttrace || say "rows of different length"
awk 'FNR == 1 { file++ } file == 1 { last = $1 } file == 2 && $1 == "layer_0_hot" { d = last - $2; if (d < 0) d = -d; print "end " last ", steady " $2; exit !(d < 0.1) }' \
  coarse.ttrace end.steady || say "the end is not the steady state"
run -leakage_used 1 -o leaky.ttrace -sampling_intvl 2e-3 --method grid || say "leakage: $(cat err)"
paste <(tail -1 leaky.ttrace) <(tail -1 fine.ttrace) | awk '{ exit !($1 > $3) }' || say "leakage does not heat"

refuses() { # MESSAGE LINE OPTION...
  stack "$2" >stack.lcf
  printf 'all\n300\n' >power.ptrace
  run "${@:3}" >/dev/null && say "took: $1"
  grep -q "$1" err || say "$1: $(cat err)"
}
refuses 'conductivity_falls: exponent' 'conductivity_falls -1 300'
refuses 'conductivity_falls: from' 'conductivity_falls 1 30'
refuses 'expected an exponent and the kelvins' 'conductivity_falls 1'
refuses 'given twice' $'conductivity_falls 1 300\nconductivity_falls 1 300'
refuses 'reduced does not model conductivity_falls; grid does' 'conductivity_falls 1 300' -o x.ttrace -sampling_intvl 1e-3 --method reduced
exit $bad
