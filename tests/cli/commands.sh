#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command says of itself the same on the screen, in its man page and to the shell; mistakes are named and exit
# with 2; names stand for files.    commands.sh THERMIX ROOT
set -uo pipefail
thermix=$1 root=$2
export THERMIX_DATA=$root
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
say() { echo "FAILED: $*"; exit 1; }

commands=$("$thermix" complete '')
[ "$(wc -w <<<"$commands")" -ge 19 ] || say "only these commands: $commands"
"$thermix" --help >all.txt
for c in $commands; do
  grep -q "^  $c " all.txt || say "thermix --help does not name $c"
  "$thermix" "$c" --help >help.txt || say "$c --help fails"
  "$thermix" help "$c" | cmp - help.txt || say "help $c is not $c --help"
  "$thermix" help "$c" --man >man.txt || say "no man page of $c"
  if command -v man >/dev/null && command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z man.txt 2>roff.txt
    [ ! -s roff.txt ] || say "man page of $c: $(cat roff.txt)"
  fi
  # the same options in all three
  options=$("$thermix" complete "$c" -- | grep '^--' | sort)
  [ "$options" = "$(grep -oE '^(      |  -., )--[a-z-]*' help.txt | grep -v -e '--usage' -e '--version' | grep -o -e '--.*' | sort)" ] ||
    say "$c: --help and completion differ"
  missing=$(comm -23 <(echo "$options") <(sed 's/\\-/-/g' man.txt | grep -oE -e '--[a-z-]+' | sort -u))
  [ -z "$missing" ] || say "man page of $c lacks" $missing
  ! grep -q -e '--format=[a-z|]*csv' help.txt || grep -q -e '--columns=' help.txt || say "$c prints a table without --columns"
  "$thermix" "$c" --no-such-option >out.txt 2>err.txt
  [ $? = 2 ] || say "$c --no-such-option does not exit with 2"
done
"$thermix" help --man | grep -q 'THERMIX_DATA' || say "no man page of thermix"

has() { # has WORD COMPLETE...: is the word among the candidates?
  local word=$1
  shift
  "$thermix" complete "$@" | grep -qxF -- "$word" || say "complete $*: no $word"
}
has tabs table ta
has wl1 run ''
has policy= run --set pol
has policy=MNU run --set policy=
has dtm.trip_c= run --set dtm.
has dtm.policy=dvfs run --set dtm.policy=
has mix=WL1 run --set mix=
has chip=gtx280 run --set chip=
has package.r_convec= run --set package.
has json table tabs --format ''
has --format=json table tabs --format=
has all,htcs cta MUM -p all,
has warped_gates table tabs --gate ''
has -r_convec thermal -
has compare floorplan ''
has :files floorplan show ''
bash -n <("$thermix" help --completion bash) || say "the completion is no bash"

# --format: values keep their types
"$thermix" check wl1 --set seed=7 --format json >out.txt || say "check --format json"
for words in '"value": true' '"value": 7' '"value": "WL1"' '"key": "throttle.trip_c"'; do grep -qF -- "$words" out.txt || say "check --format json lacks $words"; done
"$thermix" check gtx280 --format csv | grep -qx 'gtx280,chip,,"with 30 SMs, .*gtx280.flp"' || say "check --format csv"
mkdir -p one two
printf 'paper,figure,unit,paper_value,ours\n003,Figure 3,1,2.5,true\n' >one/paper.csv
printf 'paper,figure,unit,paper_value,band\n001,Figure 9a,percent,,3\n' >two/paper.csv
"$thermix" reproduce one two --format csv | cmp - <(printf 'suite,paper,figure,unit,paper_value,ours,band\none,003,Figure 3,1,2.5,true,\ntwo,001,Figure 9a,percent,,,3\n') ||
  say "reproduce --format csv"
mkdir -p notes one-b empty && cp one/paper.csv one-b && sed -i 's/figure,/figure,quantity,case,/; s/Figure 3,/&watts,mean,/' one-b/paper.csv # notes: a file, or a part of its family's
sed -i 's/$/,sd,relation,origin,error,band,outcome,follows/; 2s/,sd.*/,0,equal,fitted,0,1,in band,no/' one-b/paper.csv
printf '# Title\n\nOf one.\n\n## Suite one-b\n\nOf b.\n\n#### watts\n\nOf its watts.\n\n## Suite one-c\n\nOf c.\n' >notes/one.md
"$thermix" reproduce one-b -n notes >out.txt || say "reproduce one-b"
grep -q '^Of b\.$' out.txt && grep -qxF '**watts.** Of its watts.' out.txt || say "reproduce drops notes: $(cat out.txt)"
grep -qE '^Of (one|c)|Title' out.txt && say "reproduce prints other suites' notes"
mkdir -p one-c && "$thermix" reproduce one-c -n notes | grep -q '^Of c\.$' || say "reproduce drops a part behind a quantity's note"
"$thermix" reproduce empty -n notes >out.txt 2>err.txt && say "reproduce of a folder without values and notes"
"$thermix" reproduce NOWHERE >out.txt 2>err.txt && say "reproduce of a folder that is not there"
[ ! -s out.txt ] || say "reproduce printed something before it failed"
grep -q "NOWHERE: no such folder" err.txt || say "reproduce: $(cat err.txt)"
"$thermix" reproduce one --format json | tr -d ' \n' | grep -qF '[{"suite":"one","paper":"003","figure":"Figure3","unit":"1","paper_value":2.5,"ours":true}]' || say "reproduce --format json"

fails() { # fails "words" ARGUMENT...
  local words=$1 got
  shift
  "$thermix" "$@" >out.txt 2>err.txt
  got=$?
  [ $got = 2 ] && grep -qF -- "$words" err.txt || say "thermix $*: exit $got, expected 2 and \"$words\": $(cat err.txt)"
}
fails 'did you mean "table"' tabel tabs
fails 'expected table, csv, markdown, json, latex or openmetrics; did you mean "json"' table tabs --format jsn
fails 'expected a whole number from 1 to 1024' table tabs -j 0
fails 'expected a whole number from 1 to 1024' table tabs -j 1.5
fails 'expected a number from' run wl1 --trace nan -o x
fails '--trace does nothing without --out' run wl1 --trace 1
fails 'unexpected argument "b"' run a b
fails 'did you mean "mixes"' list mixe
fails 'no run "wl9"' run wl9
fails 'an empty word' gate hotspot --policy convpg,,gates
"$thermix" list runs | grep -q '^wl1 ' || say "list runs"
[ "$("$thermix" list mixes --format csv | grep -o '^WL[0-9]*' | tr '\n' ' ')" = "WL1 WL2 WL3 WL4 WL5 WL6 WL7 WL8 WL9 WL10 " ] || say "list mixes: not as people count"
missing=$(comm -13 <("$thermix" list keys run --format csv | cut -d, -f2 | sort) <("$thermix" check study | sed -n 's/^\([a-z_]*\) = [^{].*/\1/p' | sort))
[ -z "$missing" ] || say "list keys run lacks" $missing
"$thermix" list keys --format csv | grep -q ',$' && say "list keys: a row without words"
fails 'keys of "no"' list keys no
"$thermix" list studies | grep -q '^cooling ' && ! "$thermix" list suites | grep -q '^cooling ' && "$thermix" list suites | grep -q '^tabs ' || say "suites and studies are mixed"
"$thermix" check gtx690 | grep -qx 'gtx690: system of 2 GPUs on 1 card, 1 fan, ok' || say "1 cards: $("$thermix" check gtx690)"
"$thermix" run study --set rows=8 --set cols=8 --set package.ambient=280.0 --set tick_s=0.005 >out.txt || say "a cold run"
grep -q '^slowdown_pct  *0.000 ' out.txt || say "a run that lost nothing does not show it: $(cat out.txt)"
! grep -q -- '-0\.0*\( \|$\)' out.txt || say "-0.00: $(cat out.txt)"
[ "$(grep -c '^ [A-Z].*:$' all.txt)" = 7 ] || say "--help: groups"
"$thermix" --help | grep -q '^Begin with: thermix run' || say "--help: where to begin?"
"$thermix" check wl1 >resolved.cfg && "$thermix" check ./resolved.cfg >again.cfg && cmp resolved.cfg again.cfg || say "check wl1"
# where a key of the package stands, whoever else is overridden
printf 'chip = "gtx280"; mix = "WL1"; seed = 1; tick_s = 0.01;\npackage = {\n  s_sink = 0.001; };\n' >places.cfg
fails 'places.cfg:3: the spreader' check ./places.cfg --set package.t_chip=0.0002
fails 'set package.material_chip=nope' check wl1 --set package.t_chip=0.0002 --set package.material_chip=nope
mkdir -p hidden/study && (cd hidden && "$thermix" check study) >out.txt 2>&1 || say "a folder hides a shipped name: $(cat out.txt)"
# what check knows, by name and by file
is() { # is NAME WORDS
  "$thermix" check "$1" >out.txt 2>&1 && grep -qF -- "$2" out.txt || say "check $1: $(cat out.txt)"
}
is "$root/workloads/nodes/c1060.cfg" 'node of the job level, c1060, 7 templates, ok'
is "$root/floorplans/gtx280/sm.cfg" 'SM of a chip, ok'
# groups that one kind of run alone reads: every variant of a kernel's memory, its jobs, a chip's memory, energy and SM
bad() { # bad FILE FROM TO WORDS: a copy of FILE with TO for FROM
  rm -rf bad && cp -r "$root/$1" bad && sed -i "s/$2/$3/" "bad${5:-}"
  fails "$4" check "./bad"
}
bad workloads/kernels/BINO_tcs.cfg 'blocks_per_core = 2' 'blocks_per_core = "abc"' 'bad:31: blocks_per_core: expected an integer'
bad workloads/kernels/search.cfg compute_per_cycle compute_per_cycl 'bad:11: unknown key "compute_per_cycl"'
bad workloads/batches/1S+20B.cfg '"merge"' '"merg"' 'bad:7: decision = "merg": expected one of none, merge, serial'
bad floorplans/apsa60 'mshr = ' 'mshrs = ' 'chip.cfg:32: unknown key "mshrs"' /chip.cfg
bad floorplans/apsa60 'line_nj' 'line_mj' 'chip.cfg:50: unknown key "line_mj"' /chip.cfg
bad floorplans/gtx480 'break_even_cycles' 'breakeven_cycles' 'sm.cfg' /sm.cfg
is tabs 'suite, ok'
is warped-gates 'suite, ok'
is consolidation_day 'suite, ok'
is cooling-quick 'study of 40 points'
is WL1 'mix of 2 kernels'
is micro120 'kernel, micro120'
is micro120 'mix of 1'
is "$root/floorplans/gtx280" 'chip with 30 SMs'
is "$root/floorplans/gtx280/chip.cfg" 'chip with 30 SMs'
is node-8gpu 'system of 8 GPUs'
is 1E+1M 'batch of 2 kinds'
cp -r "$root/workloads/suites/tabs" tabs # what it includes
sed 's/"WL10"/"WL99"/' "$root/workloads/suites/tabs.cfg" >bad.cfg
fails 'no mix "WL99"' check ./bad.cfg
cp "$root/workloads/suites/tabs.cfg" bad.cfg
sed -i 's/^policies = .*/policies = ("BL", "DVFS", "AX", "MU", "MNU", "MA");/' bad.cfg && sed -i '/policy = "A"; \|policy = "A" }\|of = "mean"; policy = "A"/d' tabs/values.cfg
fails 'no such preset' check ./bad.cfg
cp "$root/workloads/suites/tabs/"*.cfg tabs
sed 's/^baseline = "BL"/baseline = "BX"/' "$root/workloads/suites/tabs.cfg" >bad.cfg
fails 'baseline = "BX": not among the suite' check ./bad.cfg
sed -i 's/column = "slowdown_pct"/column = "slowdown"/' tabs/values.cfg && cp "$root/workloads/suites/tabs.cfg" bad.cfg
fails 'no such column: "slowdown"' check ./bad.cfg
sed 's/"feed_swing_w"/"feed_swng_w"/' "$root/workloads/suites/swings.cfg" >bad.cfg
fails 'columns: no such metric: "feed_swng_w"' check ./bad.cfg
printf 'name = "m"; kernels = ( { kernel = "MUN"; work_s = 1.0; } );\n' >bad.cfg
fails 'did you mean "MUM"' check ./bad.cfg
sed 's/"r_convec"/"r_convex"/; s/package.r_convec/package.r_konvec/' "$root/workloads/suites/cooling-quick.cfg" |
  sed "s|\"../runs|\"$root/workloads/runs|" >bad.cfg
fails 'r_konvec' check ./bad.cfg
cp -r "$root/floorplans/gtx280" bad-chip # a chip's package is checked with it
package=bad-chip/$(sed -n 's/^package_file = "\(.*\)".*/\1/p' bad-chip/chip.cfg)
echo '-r_convect 0.1' >>"$package"
fails 'did you mean "-r_convec"' check ./bad-chip
fails "a file of HotSpot's" check "./$package"
fails 'did you mean "quantum_s"' check wl1 --set quantum=0.1 # what was typed and its unit
# the cache: listed, a damaged file found, emptied
export XDG_CACHE_HOME=$dir/cache
"$thermix" cache | grep -q 'cache/thermix: 0 files' || say "an empty cache"
"$thermix" run wl1 --set rows=8 --set cols=8 --set tick_s=0.005 >/dev/null || say "a small wl1"
n=$("$thermix" cache --format csv | tail -n +2 | wc -l)
[ "$n" -ge 1 ] && "$thermix" cache check | grep -q ': '"$n"' files' || say "cache check"
file=$(ls cache/thermix/*.* | head -1)
printf x | dd of="$file" bs=1 seek=130 conv=notrunc 2>/dev/null
"$thermix" cache check >out.txt 2>err.txt
[ $? = 1 ] && grep -q checksum out.txt && grep -q '1 files that no run will take' err.txt || say "a damaged file of the cache"
"$thermix" cache clean | grep -qx "removed $n files" && "$thermix" cache | grep -q ': 0 files' || say "cache clean"
# options that do nothing with what else is given
fails '--keep does nothing in list: it is of clean' cache --keep 3
fails '--format does nothing in clean: it is of list check' cache clean --format csv
fails '--by does nothing in rotate: it is of scale move split grid' floorplan rotate x.flp --by 2x2
fails '--output does nothing in check' floorplan check x.flp -o y.flp
fails '--format does nothing in scale: it is of show compare optimise' floorplan scale x.flp --by 2 --format csv
fails '--man does nothing beside --completion' help --man --completion bash
fails 'run does nothing beside --completion' help run --completion bash
fails '--columns does nothing beside --decide' consolidate 1S+20B --decide --columns setup
fails '--format does nothing beside --tune' gate hotspot --tune all --format csv
fails '--seeds does nothing without --tune' gate hotspot --seeds 3
fails '--shard does nothing beside --dry-run' sweep cooling-quick --dry-run --shard 1/2
fails '--where does nothing beside --failed' query x.sqlite --failed --where policy=BL
fails 'policy=MU: a budget follows from the chip and its cooling' budget gtx280 --limit 88 --set policy=MU
fails '--all is for the database of a study' report . --all
fails 'policy=MU: place makes its own jobs' place node-8gpu --limit 83 --power 60 --check 0 --set policy=MU
# a text of an axis that no run can have ends a study before its first run
printf 'chip = "gtx280"; mix = "WL1"; seed = 1; tick_s = 0.01; quantum_s = 0.05; rows = 8; cols = 8;\n' >axis_base.cfg
printf 'name = "t"; base = "axis_base.cfg"; axes = ( { key = "dtm.policy"; values = ["none", "dvsf"]; } );\n' >axis.cfg
fails 'did you mean "dvfs"? (no point of t with dtm.policy = dvsf has a valid configuration)' sweep ./axis.cfg -o axis.sqlite
# a list names nothing twice, and a key is named once among those there are
fails 'convpg is given twice in "convpg,convpg"' gate hotspot --policy convpg,convpg
fails '9 is given twice in "9,14,9"' gate hotspot --bet 9,14,9
fails 'tb, sensor, smooth, store' check wl1 --set qqqqqqqq=1
fails '--test does nothing in limits: it is of fit' power limits x.csv --test y.csv
fails '--at does nothing beside --x' plot x.sqlite --x a --y b --at 3 -o x.svg
fails '--set does nothing: gtx280 is neither a run nor a suite' check gtx280 --set power.leakage_w=500
# a cache that cannot be used: the same answer, and why it took longer
small=(run wl1 --set rows=8 --set cols=8 --set tick_s=0.005 --set 'mix=./tiny.cfg')
printf 'name = "tiny"; kernels = ( { kernel = "SVM"; work_s = 0.1; } );\n' >tiny.cfg
"$thermix" "${small[@]}" >want.txt 2>err.txt && [ ! -s err.txt ] || say "a cache in order: $(cat err.txt)"
"$thermix" run gtx280x2 --set rows=8 --set cols=8 --set tick_s=0.01 --set 'mix=./tiny.cfg' '--set=fan_failures=({fan="fan0";at_s=9.0;})' -q 2>&1 |
  grep 'fan0 did not stop: the run ended at .* before 9 s' >/dev/null || say "a failure behind the end of the run"
warned() { # warned CACHE REASON [SHELL WORDS]: exit 0, the same answer, a warning with the reason, nothing in the folder
  (eval "${3:-}"; XDG_CACHE_HOME=$1 exec "$thermix" "${small[@]}") >out.txt 2>err.txt || say "$2: $(cat err.txt)"
  cmp -s want.txt out.txt || say "$2: another answer"
  grep -q "warning: .*cache cannot be used: .*$2" err.txt || say "$2: $(cat err.txt)"
}
touch file
warned "$dir/file" 'not a folder'
mkdir -p loose/thermix && chmod 777 loose/thermix
warned "$dir/loose" 'only you may write'
mkdir link && ln -s ../loose/thermix link/thermix
warned "$dir/link" 'only you may write'
[ -z "$(ls loose/thermix)" ] || say "something was kept where others may write"
warned "$dir/cache" 'File too large' "trap '' XFSZ; ulimit -f 10"
ls cache/thermix | grep -q tmp- && say "the probe was left behind"
THERMIX_CACHE_MIB=0 XDG_CACHE_HOME=$dir/file "$thermix" "${small[@]}" 2>err.txt | cmp - want.txt || say "no cache by wish"
[ ! -s err.txt ] || say "no cache by wish: $(cat err.txt)"
fails 'list, check or clean' cache empty
fails 'threads' run wl1 --threads 0
fails 'not a multiple of tick_s' "${small[@]}" -o traced --trace 0.007
# air that nothing reads, caps that nobody keeps
"$thermix" check serve-row --set serve.heat=false --set inlet_c=40 2>&1 >out.txt | grep -q 'warning: serve.heat = false computes no temperatures; without effect: .*inlet_c' || say "the inlet of a run without heat"
fails 'spread.inlet_k: a chip without a topology' check study --set spread.inlet_k=2.0
fails 'mix policy slosh: a power cap, but no dtm policy of this run keeps caps' check study --set mix_policy.policy=slosh
cp "$root"/examples/cooling/pumped/* .
sed -i 's/convection = "channels"/fit_a_k_per_w = 0.05; fit_b_k_per_w = 100.0/; s/efficiency = 0.4;//' card.cfg
fails 'card.cfg:4: inlet_c: the coolant of the package' check ./pumped.cfg
cp -r "$root/floorplans/gtx280" level && sed -i '/freq_hz = 1.2[0-9]*e9\|1.15e9/d; s/1.33e9; },/1.33e9; }/' level/gt200.cfg
sed 's|"gpu1"; chip = "gtx280"|"gpu1"; chip = "./level"|' "$root/systems/gtx280x2.cfg" >levels.cfg
fails 'a power cap of 50 W for GPU 1, but its chip ./level has one clock level' check gtx280x2 --set topology=./levels.cfg --set mix=WL1 --set dtm.policy=boost --set 'power_caps_w=(60.0,50.0)'
# two chips: whose times and watts a mix's are; which of a suite's runs cannot be
sed 's|"gpu1"; chip = "gtx280"|"gpu1"; chip = "gtx480"|' "$root/systems/gtx280x2.cfg" >kinds.cfg
kinds=(check gtx280x2 --set topology=./kinds.cfg --set mix=WL1 --set link= --set rows=8 --set cols=8)
"$thermix" "${kinds[@]}" --set place.policy=coldest >out.txt 2>err.txt
grep -q 'place policy coldest may run a kernel on gtx280 or on gtx480: times and watts of the mix are those of GPU 0' err.txt || say "two chips, and the policy chooses"
"$thermix" check "$root/systems/gtx280x2.cfg" 2>err.txt >out.txt
grep -q 'card card0: at its slowest its sinks give off 1.8 times what its air can take up' err.txt || say "air hotter than the sink"
"$thermix" "${kinds[@]}" --set place.policy=coldest --set reference_chip=gtx480 2>&1 | grep 'may run' && say "two chips, and the key says which"
"$thermix" "${kinds[@]}" --set place.policy=own_gpu 2>&1 | grep 'may run' && say "two chips, to each its own"
fails 'no GPU of this run has chip a100' "${kinds[@]}" --set reference_chip=a100
fails 'not a multiple of tick_s = 0.02 s (run: mix WL1, policy ' table tabs --set tick_s=0.02 --set quantum_s=0.05 -o refused
fails 'at most 1 m' floorplan scale "$root/floorplans/gtx280/gtx280.flp" --by 1000 -o large.flp
[ ! -e large.flp ] || say "a floorplan that cannot be read"
THERMIX_CACHE_MIB=much fails 'expected a whole number of MiB' run wl1
THERMIX_MAX_MINUTES=long fails 'THERMIX_MAX_MINUTES = "long"; expected a number above 0' run wl1
THERMIX_MAX_GB=-1 fails 'expected a number above 0' run wl1
THERMIX_DATA=$dir/nowhere fails 'no such folder' run wl1
mkdir words && printf 'mix,policy,slowdown_pct\nWL1,BL,1\nWL1,A,nan\n' >words/table.csv
fails 'words/table.csv:3: slowdown_pct = "nan": expected a number, or nothing' plot words -q -o words-figures
for words in --help --version 'help run' 'run --help' 'list policies'; do
  "$thermix" $words >/dev/full 2>err.txt && say "$words on a full disk"
  grep -q 'cannot write to standard output' err.txt || say "$words on a full disk: $(cat err.txt)"
done
fails '--set nokey=1: unknown key "nokey"' table tabs --set nokey=1 -o refused
[ ! -e refused ] || say "a refused table left its folder"
echo "$(wc -w <<<"$commands") commands"
