#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Policies from shared objects: the same bytes as built in, and each wrong module is a clear error without effect.
# Usage: modules.sh THERMIX SOURCE CC "FLAGS"; FLAGS are those of the sanitizers, empty without.
set -euo pipefail
thermix=$1 source=$2 cc=$3 flags=${4:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
umask 022
say() { echo "FAILED: $*"; exit 1; }
build() { # build NAME [FLAG...]: NAME.c becomes NAME.so
  local name=$1
  shift
  # shellcheck disable=SC2086
  $cc -shared -fPIC -fvisibility=hidden -std=c17 -Wall -Wextra -Werror -O1 -I"$source/include" -I"$source" $flags "$name.c" "$@" \
    -lm -o "$name.so"
}
quick=(--set tick_s=0.025 --set rows=8 --set cols=8 --set warmup_s=0 -q)
run() { "$thermix" run "$source/workloads/runs/wl1.cfg" "${quick[@]}" "$@"; }

# Built in and from a module: the same bytes but for the names.
sed 's/"alternate"/"alternate2"/' "$source/sched/mix/alternate.c" >alternate.c
cat >same.c <<'C'
#include <thermix/module.h>
extern const struct tmx_mix_policy tmx_mix_alternate;
static const struct tmx_plugin *const mixes[] = {&tmx_mix_alternate.base, NULL};
const struct tmx_module tmx_module = {
    TMX_MODULE_HEAD, .name = "same", .version = "1", .level = {[TMX_LEVEL_MIX] = mixes}};
C
build same alternate.c "$source/sched/mix/tabs.c" "$source/sched/dtm/dvfs.c"
run --set policy=A --trace 0.5 -o a
run --set policy=BL --set 'mix_policy={policy="alternate2";}' --module ./same.so --trace 0.5 -o b
cmp a/trace.csv b/trace.csv && cmp a/kernels.csv b/kernels.csv || say "a module's policy gives other bytes"
numbers() { cut -d, -f4- "$1" | sed 's/,[^,]*$//'; }
cmp <(numbers a/summary.csv) <(numbers b/summary.csv) || say "a module's policy gives another summary"

# By the key, relative to the configuration's folder, from elsewhere; what is resolved runs again and refuses another file.
mkdir folder && cp same.so folder && cp "$source/workloads/runs/wl1.cfg" folder/run.cfg
echo 'modules = ("./same.so");' >>folder/run.cfg
"$thermix" run folder/run.cfg "${quick[@]}" --set policy=BL --set 'mix_policy={policy="alternate2";}' -o c
cmp b/kernels.csv c/kernels.csv || say "key modules gives other bytes than --module"
[ "$(cut -d, -f1 b/summary.csv)" = "$(cut -d, -f1 c/summary.csv)" ] || say "--module and key modules differ in the run's id"
grep -q 'hash = "[0-9a-f]\{32\}"' c/resolved.cfg || say "resolved.cfg does not name the module's hash"
"$thermix" run c/resolved.cfg -q -o d && cmp c/summary.csv d/summary.csv || say "resolved.cfg does not run again"
cp same.so kept.so
echo >>folder/same.so
if "$thermix" run c/resolved.cfg -q 2>err.txt; then say "another file is taken for the module"; fi
grep -q 'is another file' err.txt || say "another file: $(cat err.txt)"

# A module's content is part of the run's id.
sed -i 's/2 \* t->slice_s/4 * t->slice_s/' alternate.c
build same alternate.c "$source/sched/mix/tabs.c" "$source/sched/dtm/dvfs.c"
run --set policy=BL --set 'mix_policy={policy="alternate2";}' --module ./same.so -o e
! cmp -s <(cut -d, -f1 b/summary.csv) <(cut -d, -f1 e/summary.csv) || say "another module, the same run id"

# A policy may cap a board during a run and let go again: from 20 s to 40 s 150 W, which the governor keeps within 2 s and tells.
cat >capper.c <<'C'
#include <math.h>
#include <thermix/module.h>
static void cap(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)state;
    request->gpu[0].power_cap_w = view->time_s >= 20 && view->time_s < 40 ? 150 : INFINITY;
}
static const struct tmx_mix_policy capper = {.base = {.name = "capper", .doc = "d", .source = "s"}, .decide = cap};
static const struct tmx_plugin *const mixes[] = {&capper.base, NULL};
const struct tmx_module tmx_module = {TMX_MODULE_HEAD, .name = "capper", .version = "1", .level = {[TMX_LEVEL_MIX] = mixes}};
C
build capper
sed 's/600.0/60.0/' "$source/workloads/mixes/burn1.cfg" >burn.cfg
"$thermix" run gtx770-boost --set mix=./burn.cfg --set warmup_s=0 --module ./capper.so --set 'mix_policy={policy="capper";}' --trace 1 -q -o caps
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
  { w = ($col["power_w"] + 25) / 0.9; t = $1; held = $col["reasons"] ~ /sw_power_cap/ }
  t > 10 && t < 19 || t > 43 && t < 55 { n++; free += w > 200 }
  t > 22 && t < 40 { k++; capped += w > 135 && w <= 151 && held }
  END { if (!n || free != n || !k || capped != k) { printf "free in %d of %d rows, capped in %d of %d\n", free, n, capped, k; exit 1 } }' \
  caps/trace.csv || say "a cap that a policy sets during the run"

# Each wrong kind.
wrong() { # wrong WORDS FILE: --module FILE ends with 2 and these words
  local code=0
  run --module "$2" >out.txt 2>err.txt || code=$?
  [ $code = 2 ] || say "$2: exit code $code, expected 2: $(cat err.txt)"
  grep -qF "$1" err.txt || say "no \"$1\" in: $(cat err.txt)"
  [ ! -s out.txt ] || say "$2 prints"
}
module() { # module NAME HEAD LEVEL POLICY...: a module of one policy
  cat >"$1.c" <<C
#include <thermix/module.h>
static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)state; (void)view; (void)job;
    *at = (struct tmx_place){0, 1};
}
struct s { int a; };
static const struct tmx_opt far[] = {{.key = "a", .type = TMX_OPT_REAL, .offset = 4, .unit = "1", .doc = "x"}, {0}};
const void *const used[] = {(const void *)far, (const void *)place};
$4
static const struct tmx_plugin *const list[] = {&mine.base, NULL};
TMX_API const struct tmx_module tmx_module = {
    TMX_MODULE_HEAD, .name = "wrong", .version = "1", .level = {[$3] = list}$2};
C
  build "$1" -Wno-override-init -Wno-error -w
}
good='static const struct tmx_place_policy mine = {.base = {.name = "mine", .doc = "d", .source = "s"}, .place = place};'
module fine '' TMX_LEVEL_PLACE "$good"
run --module ./fine.so --set place.policy=mine || say "a good module"
# Its policies are listed, and no output takes its place.
"$thermix" list policies --module ./fine.so --format csv >list.csv
grep -q '^place,mine,d,s$' list.csv || say "list --module does not name the policy: $(tail -3 list.csv)"
"$thermix" list policies --format csv >list.csv
! grep -q '^place,mine' list.csv || say "a module's policy is listed without the module"
mkdir held && cp fine.so held/kernels.csv && cp fine.so kept.so
if run --module held/kernels.csv -o held 2>err.txt; then say "an output replaces a module"; fi
grep -q 'an output would replace this input' err.txt || say "an output over a module: $(cat err.txt)"
cmp held/kernels.csv kept.so || say "a module was written over"

module magic ', .magic = 1' TMX_LEVEL_PLACE "$good"
wrong 'magic number is 1, this library' ./magic.so
module abi ', .abi = 77' TMX_LEVEL_PLACE "$good"
wrong 'ABI number is 77, this library' ./abi.so
module bytes ', .bytes = 8' TMX_LEVEL_PLACE "$good"
wrong 'sizeof(struct tmx_module) is 8, this library' ./bytes.so
module count ', .n_size = 3' TMX_LEVEL_PLACE "$good"
wrong 'number of structs is 3, this library' ./count.so
module size ', .size[TMX_MODULE_SIZE_tmx_gpu_view] = 5' TMX_LEVEL_PLACE "$good"
wrong 'sizeof(struct tmx_gpu_view) is 5, this library' ./size.so
module taken '' TMX_LEVEL_PLACE "${good/\"mine\"/\"coldest\"}"
wrong 'place policy coldest: the name is taken' ./taken.so
module slot '' TMX_LEVEL_PLACE "${good/.place = place/}"
wrong 'place policy mine: the required function place is missing' ./slot.so
module state '' TMX_LEVEL_PLACE "${good/.source = \"s\"/.source = \"s\", .state_size = 1048577}"
wrong 'a state of 1048577 bytes' ./state.so
module rows '' TMX_LEVEL_PLACE "${good/.source = \"s\"/.source = \"s\", .opts = far, .state_size = sizeof(struct s)}"
wrong 'option a lies outside its state of 4 bytes' ./rows.so
module name '' TMX_LEVEL_PLACE "${good/\"mine\"/\"my own\"}"
wrong 'a name is a word' ./name.so
module job '' TMX_LEVEL_JOB "$good"
wrong 'takes no policies from outside' ./job.so
cp fine.so open.so && chmod o+w open.so
wrong 'everybody may write it' ./open.so
echo 'int nothing;' >empty.c && build empty
wrong 'defines no tmx_module' ./empty.so
echo 'not an object' >text.so
wrong 'no ELF file' ./text.so
wrong 'No such file' ./absent.so
wrong 'regular file' .
wrong 'No such file' fine # never a search path

# A bad one after a good one of the same object: nothing of it is there.
module both '' TMX_LEVEL_PLACE "$good"
sed -i 's/&mine.base, NULL/\&mine.base, \&mine.base, NULL/' both.c && build both -w
wrong 'the name is taken' ./both.so

# check and --dry-run load nothing: no constructor runs, and what is therefore not checked is said. A wrong hash is still found.
cat >loud.c <<'C'
#include <stdio.h>
#include <thermix/module.h>
__attribute__((constructor)) static void own(void) { FILE *f = fopen("PWNED_module", "w"); if (f) fclose(f); }
TMX_API const struct tmx_module tmx_module = {TMX_MODULE_HEAD, .name = "loud", .version = "1"};
C
build loud
cat >loud.cfg <<'C'
chip = "gtx280"; mix = "hot_cold"; seed = 1; modules = ("./loud.so");
mix_policy = { policy = "of_loud"; knob = 3.0; };
C
echo 'name = "s"; base = "./loud.cfg"; axes = ( { key = "seed"; values = [1, 2]; } );' >study.cfg
"$thermix" sweep ./study.cfg --dry-run >/dev/null || say "a dry run of a study with a module"
for file in ./loud.cfg ./study.cfg; do
  "$thermix" check $file >out.txt 2>err.txt || say "check $file with a module: $(cat err.txt)"
  [ "$(grep -c 'policy of_loud of module loud.so is not checked: the module is not loaded' err.txt)" = 1 ] ||
    say "check $file is silent about its module: $(cat err.txt)"
done
[ ! -e PWNED_module ] || say "check or --dry-run ran a module's constructor"
if "$thermix" check ./loud.cfg --set 'modules=({file="./loud.so";hash="00";})' >out.txt 2>err.txt; then say "check takes another module"; fi
grep -q 'is another file' err.txt || say "check, another module: $(cat err.txt)"
if "$thermix" run ./loud.cfg -q 2>err.txt; then say "a policy that the module lacks was run"; fi
[ -e PWNED_module ] || say "run does not load its module: this test sees nothing"

# A module cut short is refused, and does not end the process in the loader.
size=$(stat -c %s fine.so)
for part in 1 4 100 $((size / 4)) $((size / 2)) $((size - 1)); do
  head -c "$part" fine.so >half.so
  wrong 'cannot be loaded' ./half.so
done
echo '__asm__(".data\n.balign 16\n.byte 1\n.globl tmx_module\ntmx_module: .zero 64\n");' >odd.c
build odd && wrong 'no module' ./odd.so

# What -ffast-math leaves behind is set back: denormals stay, so do all numbers.
cat >fast.c <<'C'
#include <fenv.h>
#include <thermix/module.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
__attribute__((constructor)) static void mode(void) { _mm_setcsr(_mm_getcsr() | 0x8040); fesetround(FE_UPWARD); }
#else
__attribute__((constructor)) static void mode(void) { fesetround(FE_UPWARD); }
#endif
TMX_API const struct tmx_module tmx_module = {TMX_MODULE_HEAD, .name = "fast", .version = "1"};
C
build fast
run --set policy=A --module ./fast.so --trace 0.5 -o f
cmp a/trace.csv f/trace.csv || say "a constructor changed the floating-point mode of the run"
echo "modules: all as expected"
