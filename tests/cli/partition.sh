#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# More than two kernels a GPU, as a fluid: no work is lost or made, whatever the number of slots; parts are as wide as they say.
#   partition.sh THERMIX
. "$(dirname "$0")/begin.sh"
cat > mix.cfg <<'M'
name = "five";
kernels = ( { kernel = "SVM"; work_s = 4.0; }, { kernel = "Cmem"; work_s = 4.0; }, { kernel = "Madd"; work_s = 4.0; },
            { kernel = "Mmul"; work_s = 2.0; }, { kernel = "Bs"; work_s = 4.0; } );
M
cat > run.cfg <<'R'
chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;
throttle = { policy = "none"; };
R
ends() { # ends SLOTS FIXED -> kernel end dynamic_j, a line each
  "$thermix" run ./run.cfg --set "mix_policy={policy=\"partition\"; slots=$1; fixed=$2;}" -o "out$1$2" > screen 2> err || { cat err; fail "$1 slots"; }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["kernel"], $c["finished_s"], $c["dynamic_j"] }' "out$1$2/kernels.csv"
}
for n in 1 2 3 5 8; do
  ends $n false > now
  # 18 s of work of a whole GPU take 18 s, and the same dynamic energy of each kernel
  awk -v n=$n 'FILENAME == "now" { if ($2 > last) last = $2; j[$1] = $3; next } { if (j[$1] / $3 > 1.002 || j[$1] / $3 < 0.998) exit 1 }
    END { if (last < 17.99 || last > 18.3) exit 1 }' now "$( [ $n = 1 ] && cp now first; echo first)" || { cat now; fail "$n slots share the GPU"; }
done
# five at a time: the short one has a fifth of the GPU until it ends, at 10 s; the others then a quarter, to 18 s; the first has all
# of it until the others have come, one a scheduling tick
ends 5 false | awk '$1 == "Mmul" && ($2 < 9.9 || $2 > 10.3) { exit 1 } $1 != "Mmul" && ($2 < 17.7 || $2 > 18.3) { exit 1 }' || fail "equal shares"
# fixed parts of a fifth stay a fifth: 2 s of work take 10 s, 4 s take 20 s
ends 5 true | awk '$1 == "Mmul" && ($2 < 9.9 || $2 > 10.3) { exit 1 } $1 != "Mmul" && ($2 < 19.9 || $2 > 20.4) { exit 1 }' || fail "fixed parts"
if "$thermix" run ./run.cfg --set 'mix_policy={policy="partition"; slots=9;}' -o no > screen 2> err; then fail "nine slots"; fi
echo "1 passed, 0 failed"
