#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Suite stragglers from the command line, its warm-up cut: sloshing never makes a step longer than equal caps, members' waits and
# step times agree, and who may not keep caps is refused.    stragglers.sh THERMIX
. "$(dirname "$0")/begin.sh"
"$thermix" table stragglers -q -j 2 --set warmup_s=50.0 --set tick_s=0.1 --set sync_job.steps=10 --set rows=8 --set cols=8 -o out > table.txt
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
  $c["mix"] !~ /^train8/ { next }
  ($c["mix"] == "train8-a100") != ($c["variant"] ~ /^A100/) { print; bad = 1 }
  $c["error"] != "" { print; bad = 1 }
  { step[$c["policy"] SUBSEP $c["variant"]] = $c["step_time_s"]; v[$c["variant"]] = 1 }
  END { for (i in v) { n++; e = step["equal" SUBSEP i]; s = step["slosh" SUBSEP i]
          if (!(s > 0.5 && s <= e * (1 + 1e-4))) { print i ": " e " " s; bad = 1 } }
        exit bad || n != 24 }' out/table.csv || fail "sloshing is slower somewhere"
"$thermix" run hgx-b200-vf -q --set sync_job.steps=50 --set warmup_s=50.0 -o run > table.txt
awk -F, 'FILENAME ~ /summary/ { if (FNR == 1) { for (i = 1; i <= NF; i++) c[$i] = i } else step = $c["step_time_s"]; next }
  FNR > 1 { n++; d = $4 + $6 / 100 * step + 0.02 - step; if (d > 1e-9 || d < -1e-9) bad = 1; last += $7 }
  END { exit bad || n != 8 || last != 50 }' run/summary.csv run/members.csv || fail "members do not make the step: $(cat run/members.csv)"
if "$thermix" run hgx-b200-vf -q --set 'dtm={policy="none";}' 2> err; then fail "caps that nobody keeps"; fi
sed 's/{ name = "A100 250 W"; mix = "train8-a100"/{ name = "A100 250 W"; mix = "train9"/' "$root/workloads/suites/stragglers.cfg" > wrong.cfg
if "$thermix" table wrong.cfg -q 2> mix.err; then fail "a variant's mix that is none"; fi
grep -q '^wrong.cfg:[0-9]*:.*train9' mix.err || fail "a variant's wrong mix is not said: $(cat mix.err)"
sed 's/mixes = \["train8"\]/mixes = ["train8", "aw8"]/' "$root/workloads/suites/stragglers.cfg" > wrong.cfg
if "$thermix" table wrong.cfg -q 2> mix.err; then fail "a variant's mix in place of two"; fi
grep -q '^wrong.cfg:[0-9]*:.*only a variant of a suite of one mix' mix.err || fail "whose mix may be another is not said: $(cat mix.err)"
grep -q 'keeps caps' err || fail "who keeps caps is not said: $(cat err)"
echo "1 passed, 0 failed"
