#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/layers.cmake names each wrong include that is sown into a copy of the tree, however it is written, and a circle.
# Usage: layers_seeded.sh CMAKE SOURCE
set -euo pipefail
cmake=$1 source=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r "$source"/{include,examples,base,kernels,core,thermal,hotspot,power,sched,run,study,limits,plots,measure,papers,cli} "$dir"
sow() { echo "$2" >>"$dir/$1"; }
sow base/table.c '#include "sched/policies.h"'
sow base/config.c '#include <sched/policies.h>'
sow power/leakage.c ' #  include "run/run.h"'
sow core/floorplan/chip.c '#include "core/workload/kernel.h"'
sow core/machine/advance.c '#include "core/sim/sim.h"'
sow core/sim/stage/cooling.c '#include "core/sim/tiles.h"'
sow run/load/data.c '#include "run/run.h"'
sow thermal/reduction/krylov.c '#include "thermal/backend/backends.h"'
sow examples/step.c '#include "../base/table.h"'
sow base/table.h '#include "base/config.h"'
sow base/config.h '#include "base/table.h"'
if "$cmake" -DROOT="$dir" -P "$source/tests/layers.cmake" >"$dir/out.txt" 2>&1; then echo "FAILED: nothing found"; exit 1; fi
for f in base/table.c base/config.c power/leakage.c core/floorplan/chip.c core/machine/advance.c core/sim/stage/cooling.c run/load/data.c thermal/reduction/krylov.c examples/step.c; do
  grep -q "^ *$f: .*may include" "$dir/out.txt" || { cat "$dir/out.txt"; echo "FAILED: $f"; exit 1; }
done
grep -q 'include one another:.*base/config\.h' "$dir/out.txt" || { cat "$dir/out.txt"; echo "FAILED: circle"; exit 1; }
