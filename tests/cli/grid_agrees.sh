#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The full-order thermal back-end gives the same table as the reduced one, within 0.001 points of slowdown.
# The chip starts at the temperature of its air. From any other uniform field the SMs' order in the first tick is that of each method's last
# bits: on equal SMs the two then run mirror images of one another, and where SMs stop one by one these differ by half a point.
#   grid_agrees.sh THERMIX
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME="$dir/cache"
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g" "$root/tests/golden/tabs_small/suite.cfg" > suite.cfg
for method in reduced grid; do
  "$thermix" table ./suite.cfg --set method=$method --set package.ambient=336 --set package.init_temp=336 -q --format csv | cut -d, -f1-3 > $method.csv
done
paste -d, reduced.csv grid.csv | awk -F, 'NR > 1 { n++; d = $3 - $6; if (d < 0) d = -d; if (d > worst) worst = d; if ($1 != $4 || $2 != $5) bad = 1 }
  END { print "largest difference " worst + 0 " points over " n " rows"; exit !(n >= 12 && worst <= 0.001 && !bad) }' || { echo FAILED; exit 1; }
echo "1 passed, 0 failed"
