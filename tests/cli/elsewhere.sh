#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What one's own files name is found wherever the program is started, and the results are the same.
#                                                                                 elsewhere.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
say() { echo "FAILED: $*"; exit 1; }
mkdir -p project/chips project/kernels project/studies away
cd project || exit 1
cp -r "$root/floorplans/gtx280" chips/mine
cp "$root/workloads/kernels/SVM.cfg" kernels/own.cfg
cat >mix.cfg <<'END'
name = "own"; kernels = ( { kernel = "kernels/own.cfg"; work_s = 2.0; }, { kernel = "Cmem"; work_s = 2.0; } );
END
printf 'arrival_s,kernel,work_s\n0,./kernels/own.cfg,1\n1,Cmem,1\n' >arrivals.csv
echo 'name = "trace"; arrivals = { process = "trace"; file = "arrivals.csv"; };' >trace.cfg
sed 's/chip = "gtx280"/chip = "chips\/mine"/' "$root/systems/gtx280x2.cfg" >node.cfg
coarse='seed = 1; tick_s = 0.01; rows = 8; cols = 8;'
echo "chip = \"./chips/mine\"; mix = \"mix.cfg\"; $coarse" >run.cfg
echo "chip = \"./chips/mine\"; floorplan = \"chips/mine/gtx280.flp\"; mix = \"./trace.cfg\"; $coarse" >traced.cfg
printf 'time_s,inlet_c\n0,25\n1,30\n' >day.csv
echo "topology = \"node.cfg\"; inlet = \"day.csv\"; mix = \"mix.cfg\"; $coarse" >hall.cfg
cat >suite.cfg <<END
name = "own"; kind = "tabs"; mixes = ( "mix.cfg" ); baseline = "BL"; compare = "BL"; base = { $coarse };
policies = ( "BL", { name = "mine"; policy = "BL"; set = ["chip=./chips/mine"]; } );
END
cat >studies/study.cfg <<'END'
name = "own"; base = "../run.cfg";
axes = ( { key = "mix"; values = ["../mix.cfg", "../trace.cfg"]; } );
END
# 1. from its folder, from the one above and from another one
all() { # all PATH-TO-PROJECT OUT
  for run in run traced hall; do "$thermix" run "$1/$run.cfg" -q -o "$2/$run" || say "run $run.cfg as $1"; done
  "$thermix" table "$1/suite.cfg" -q -o "$2/suite" >/dev/null || say "table as $1"
  "$thermix" bound "$1/suite.cfg" --format csv >"$2/bound.csv" || say "bound as $1"
  "$thermix" sweep "$1/studies/study.cfg" -q -o "$2/study.sqlite" >/dev/null || say "sweep as $1"
  "$thermix" query "$2/study.sqlite" --format csv >"$2/study.csv" || say "query as $1"
}
all . "$dir/here"
(cd .. && all project "$dir/above")
(cd ../away && all ../project "$dir/beside")
(cd ../away && all "$dir/project" "$dir/absolute")
(cd .. && cp -r project copy && all copy "$dir/copied")
for other in above beside absolute copied; do
  for run in run traced hall; do
    for f in summary kernels gpus; do
      cmp "../here/$run/$f.csv" "../$other/$run/$f.csv" || say "$f.csv of $run.cfg from $other"
    done
  done
  for f in suite/table.csv bound.csv study.csv; do cmp "../here/$f" "../$other/$f" || say "$f from $other"; done
done
"$thermix" sweep studies/study.cfg -o ../beside/study.sqlite >again.txt 2>&1
grep -q '2 there before' again.txt || say "a study is another one from here: $(cat again.txt)"
# 2. what a run wrote is run again from anywhere, and as the same run
(cd / && "$thermix" explain "$dir/beside/hall" --no-steps >/dev/null) || say "explain from elsewhere"
"$thermix" run ../beside/traced/resolved.cfg -q -o again && cmp again/summary.csv ../here/traced/summary.csv || say "a resolved configuration"
# 3. what stands beside the file goes before what stands in the current folder; that serves where there is none
mkdir ../away/kernels && cp -r chips ../away/ && sed -i "s/doc = .*/doc = \"another\"; sms_off = \"0,1\";/" ../away/chips/mine/chip.cfg
cmp -s chips/mine/chip.cfg ../away/chips/mine/chip.cfg && say "the other chip is the same"
(cd ../away && "$thermix" run ../project/run.cfg -q -o third && cmp third/summary.csv ../here/run/summary.csv) || say "the file's own folder comes first"
mkdir ../files && sed 's/mix.cfg/project\/mix.cfg/' run.cfg | sed 's/\.\/chips/project\/chips/' >../files/run.cfg
(cd .. && "$thermix" run files/run.cfg -q -o fourth && cmp fourth/summary.csv here/run/summary.csv) || say "the current folder comes second"
echo "mix = \"workloads/mixes/WL1.cfg\"; $coarse" >shipped.cfg
THERMIX_DATA=$root "$thermix" check ./shipped.cfg >/dev/null || say "a path of the shipped data"
# 4. what is nowhere: the file that names it, its line, and the places
says() { # says WORDS ARGUMENT...
  local want=$1
  shift
  "$thermix" "$@" >/dev/null 2>err.txt && say "$* runs"
  grep -qF -- "$want" err.txt || say "$*: $(cat err.txt), without $want"
}
cd ../away || exit 1
sed 's/mix.cfg/mixes\/no.cfg/' ../project/run.cfg >../project/bad.cfg
says '../project/bad.cfg:1: mix: mixes/no.cfg: no such mix; looked for ../project/mixes/no.cfg, mixes/no.cfg' run ../project/bad.cfg
sed -i 's/chips\/mine/chips\/no/' ../project/node.cfg
line=$(grep -n chips/no ../project/node.cfg | head -1 | cut -d: -f1)
says "../project/node.cfg:$line: chip: chips/no: no such chip; looked for ../project/chips/no, chips/no" run ../project/hall.cfg
says "../project/node.cfg:$line: chip: chips/no: no such chip" check ../project/node.cfg
sed -i 's/kernels\/own/kernels\/no/' ../project/mix.cfg
says '../project/mix.cfg:1: kernel: kernels/no.cfg: no such kernel; looked for ../project/kernels/no.cfg' run ../project/run.cfg
says '--set mix=../no.cfg: mix: ../no.cfg: no such mix' run ../project/traced.cfg --set mix=../no.cfg
exit 0
