#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The full-order thermal back-end gives the same table as the reduced one, within 0.1 points of slowdown.
#   grid_agrees.sh THERMIX
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME="$dir/cache"
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" > suite.cfg
for method in reduced grid; do
  "$thermix" table ./suite.cfg --set method=$method -q --format csv | cut -d, -f1-3 > $method.csv
done
paste -d, reduced.csv grid.csv | awk -F, 'NR > 1 { n++; d = $3 - $6; if (d < 0) d = -d; if (d > worst) worst = d; if ($1 != $4 || $2 != $5) bad = 1 }
  END { print "largest difference " worst + 0 " points over " n " rows"; exit !(n >= 12 && worst <= 0.1 && !bad) }' || { echo FAILED; exit 1; }
echo "1 passed, 0 failed"
