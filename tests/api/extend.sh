#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/extending.md as a new user follows it: the files of examples/extend go to their places, its lines where it says, and what changed is compiled
# and linked before the rest of the program. Usage: extend.sh BUILD SOURCE CC "FLAGS"; FLAGS are those of the sanitizers.
set -euo pipefail
build=$1 source=$2 cc=$3 flags=${4:-}
command -v ninja >/dev/null && [ -f "$build/build.ninja" ] || { echo "no ninja: not checked"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
say() { echo "FAILED: $*"; exit 1; }
mkdir -p "$dir/tree"
cp -r "$source"/{sched,cli,papers,run,core} "$dir/tree"
cd "$dir/tree"

# The files: the second line names the place.
for f in "$source"/examples/extend/*.c; do
  to=$(sed -n '2s|^/\* \([a-z_/]*[.]c\): .*|\1|p' "$f")
  [ -d "$(dirname "$to")" ] && grep -q "examples/extend/${f##*/}" "$source/docs/extending.md" || say "$f is for \"$to\", or the manual does not name it"
  cp "$f" "$to"
done

# The lines.
sed -i '/^#define TMX_PLACE_LIST(X)/s/.*/#define TMX_PLACE_LIST(X) X(place, warmest)      \\/' sched/policies.h
sed -i 's/^    X(sweep) .*/    X(points) \\\n&/' cli/commands.h
sed -i 's/^    X(Y, noise)\(.*\)/    X(Y, lag)                 \\\n    X(Y, noise)\1/' core/sim/sensor/models.h
sed -i 's/^    X(Y, serve)\(.*\)/    G(Y, users)                  \\\n    X(Y, serve)\1/' core/sim/source/sources.h
sed -i 's/^    X(tabs, .*/    X(powers, NULL, "what some kernels draw") \\\n&/' papers/suite.h
inserts() { # inserts FILE BEFORE LINE...: lines of the manual, before the only line with BEFORE
  local file=$1 before=$2 line
  shift 2
  [ "$(grep -cF "$before" "$file")" = 1 ] || say "\"$before\" is not once in $file: the manual is old"
  for line; do
    grep -qF "$line" "$source/docs/extending.md" || say "the manual does not have: $line"
    BEFORE=$before LINE=$line perl -i -pe 'print "$ENV{LINE}\n" if index($_, $ENV{BEFORE}) >= 0' "$file"
  done
}
inserts run/options.h '/* Groups that are rows alone' 'struct tmx_run_scale_options {' 'double power;' '};'
sed -i 's/^#define TMX_RUN_PLAIN_GROUPS(X)/& X(scale, NULL, tmx_run_scale_opts)/' run/options.h
inserts run/workload.c 'static const struct tmx_kernel *open_kernel' 'const struct tmx_opt tmx_run_scale_opts[] = {' \
  'TMX_ROW_REAL(tmx_run_scale_options, power, "1", 0.1, 10, 1, "factor on the sm_power_w of every kernel"),' '{0},' '};'
inserts run/workload.c 'struct tmx_run_kernel *named' 'k->power.sm_power_w *= r->scale_options.power;'
inserts run/metrics.c 'const struct tmx_metric tmx_metrics[]' 'static double edp_js(const struct tmx_run *r) { return recorder(r)->total_j * makespan_s(r); }'
inserts run/metrics.c '{"energy_j", "energy of the GPUs' '{"edp_js", "energy_j times makespan_s", 0, .value = edp_js},'
for f in sched/policies.h:warmest cli/commands.h:points papers/suite.h:powers core/sim/sensor/models.h:lag core/sim/source/sources.h:users run/options.h:X\(scale; do
  grep -q "${f#*:}" "${f%:*}" || say "the line for ${f%:*} found no place: the manual is old"
done

# Build: objects in front of the libraries they replace a member of.
warn="-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes"
objects=()
for f in core/sim/sensor/lag.c core/sim/stage/sensor.c core/sim/source/users.c sched/place/warmest.c sched/sched.c cli/cmd_points.c cli/commands.c papers/powers.c papers/suite.c run/open.c run/options.c run/workload.c run/metrics.c cli/complete.c; do
  # shellcheck disable=SC2086
  $cc -std=c17 -Og $warn $flags -I"$dir/tree" -I"$source" -I"$source/include" -DTMX_VERSION='"0"' -DTMX_INSTALL_DOC_DIR='""' -c "$f" -o "$dir/$(basename "$f").o"
  objects+=("$dir/$(basename "$f").o")
done
cd "$build"
link=$(ninja -t commands thermix-cli | tail -1)
[[ $link == *"cli/CMakeFiles/thermix-cli.dir/main.c.o -o cli/thermix "* ]] || say "another link command: $link"
link=${link/main.c.o -o cli\/thermix /main.c.o ${objects[*]} -o $dir/thermix }
bash -c "$link" 2>"$dir/link.txt" || say "$(cat "$dir/link.txt")"

# What the manual promises of each.
cd "$dir"
export THERMIX_DATA=$source
quick=(--set tick_s=0.025 --set rows=8 --set cols=8 --set warmup_s=0)
# Into a file first: grep -q would leave the program with a closed pipe.
says() { # says WORDS COMMAND...
  "${@:2}" >said.txt 2>&1 || true
  grep -q -e "$1" said.txt
}
says '^place,warmest,' ./thermix list policies --format csv || say "list does not name the policy"
says warmest ./thermix complete run --set place.policy= || say "completion does not name the policy"
./thermix run gtx280x2 "${quick[@]}" --set place.policy=warmest --set place.spare_k=2 --set stuck_s=5000 -q -o out || say "the policy does not run"
grep -q 'spare_k = 2' out/resolved.cfg || say "the option is not in resolved.cfg"
if ./thermix run gtx280x2 --set place.policy=warmest --set place.spare_k=200 -q 2>err.txt; then say "a bound does not hold"; fi
grep -q 'spare_k' err.txt || say "the bound: $(cat err.txt)"
./thermix run study "${quick[@]}" --set stuck_s=5000 -q -o plain || say "a run without the group does not run"
./thermix run study "${quick[@]}" --set stuck_s=5000 --set scale.power=1.1 -q -o scaled || say "the group is not read"
! grep -q scale plain/resolved.cfg && grep -q 'power = 1.1' scaled/resolved.cfg || say "the group is not in resolved.cfg where it acts, or it is where it does not"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "energy_j") c = i } FNR == 2 { e[FILENAME] = $c }
  END { exit !(e["scaled/summary.csv"] > 1.02 * e["plain/summary.csv"]) }' plain/summary.csv scaled/summary.csv || say "the group does not act"
says '^sensor[.]lag_s=' ./thermix complete run --set sensor. || say "completion does not name the sensor's key: $(cat said.txt)"
says '^run,sensor.lag_s,s,0 to 10,0,' ./thermix list keys --format csv || say "list does not name the sensor's key"
for lag in 0 1; do # a reading that comes late stops SMs late
  ./thermix run wl1 "${quick[@]}" --set stuck_s=5000 --set sensor.lag_s=$lag -q -o lag$lag || say "the sensor does not run"
done
! grep -q lag_s lag0/resolved.cfg && grep -q 'lag_s = 1' lag1/resolved.cfg || say "the sensor's key is not in resolved.cfg where it acts, or it is where it does not"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "peak_temp_c") c = i } FNR == 2 { t[FILENAME] = $c }
  END { exit !(t["lag1/summary.csv"] > t["lag0/summary.csv"] + 0.2) }' lag0/summary.csv lag1/summary.csv || say "the sensor does not act"
says '^users[.]$' ./thermix complete run --set '' && says '^users[.]think_s=' ./thermix complete run --set users. || say "completion does not name the source: $(cat said.txt)"
for think in 0 40; do # one after another: the next kernel arrives when the user has thought
  ./thermix run wl1 "${quick[@]}" --set warmup_s=20 --set stuck_s=5000 --set users.think_s=$think -q -o users$think || say "the source does not run"
done
! grep -q users lag0/resolved.cfg && grep -q 'think_s = 40' users40/resolved.cfg || say "the source is not in resolved.cfg where it acts, or it is where it does not"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "makespan_s") c = i } FNR == 2 { t[FILENAME] = $c }
  END { exit !(t["users40/summary.csv"] > t["users0/summary.csv"] + 39) }' users0/summary.csv users40/summary.csv || say "the source does not act"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { n++; bad += $c["started_s"] - $c["arrival_s"] > 0.06 } END { exit bad || n < 2 }' users40/kernels.csv ||
  say "a user's kernel waits, though the one before has ended: $(cat users40/kernels.csv)"
if ./thermix run wl1 --set users.n=1 --set tick=events -q 2>err.txt; then say "the source takes steps that it knows nothing of"; fi
grep -q 'group users goes by fixed ticks' err.txt || say "events: $(cat err.txt)"
if ./thermix run wl1 --set users.n=1 --set 'sync_job={step_work_s=1.0; steps=3; members=1;}' -q 2>err.txt; then say "two sources"; fi
grep -q 'one source of work' err.txt || say "two sources: $(cat err.txt)"
if ./thermix run wl1 --set sensor.lag_s=-1 -q 2>err.txt; then say "a bound of the sensor does not hold"; fi
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { d = $c["edp_js"] - $c["energy_j"] * $c["makespan_s"]; exit !(d * d < 1e-6 && $c["edp_js"] > 1) }' plain/summary.csv ||
  say "the metric: $(head -1 plain/summary.csv)"
if ./thermix run study --set scale.power=100 -q 2>err.txt; then say "a bound of the group does not hold"; fi
says '^scale[.]power' ./thermix complete run --set scale. || say "completion does not name the group: $(cat said.txt)"
./thermix points cooling --format csv >points.csv || say "the command does not run"
./thermix sweep cooling --dry-run >dry.csv && cmp dry.csv points.csv || say "the command prints other points"
says '^  points ' ./thermix --help || say "--help does not name the command"
says 'what a study would run' ./thermix help points --man || say "no man page"
says '^--format$' ./thermix complete points -- || say "no completion: $(cat said.txt)"
echo 'name = "mine"; kind = "powers"; doc = "two kernels"; kernels = ["SVM", "Cmem"];' >mine.cfg
./thermix check mine.cfg >/dev/null || say "check refuses the suite"
./thermix table mine.cfg -q -o mine >/dev/null && [ "$(wc -l <mine/table.csv)" = 3 ] || say "the suite does not run"
echo "extending.md: a policy, a command, a paper, a metric, a sensor model, a source of work and a configuration group, as it says"
