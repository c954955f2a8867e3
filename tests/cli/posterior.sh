#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sampled sets of constants: `thermix table` runs them, the screen first, and resumes; a policy names an axis; the numbers
# of a set are those of the suite with that set's constants. `thermix posterior` weighs them: the weights, quantiles and
# probabilities of a table that can be computed by hand.    posterior.sh THERMIX
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$dir/cache}"

# 1. a table: five sets, two figures; set 4 was screened out
mkdir hand
cat > hand/sets.csv <<'C'
set,status,a,b,v1,v2,v3
0,done,1,x,10,5,1
1,done,2,y,11,5,-1
2,done,3,x,13,7,1
3,done,4,y,20,5,1
4,screened,5,x,10,,1
C
cat > hand/values.csv <<'C'
paper,figure,quantity,case,unit,paper_value,ours,sd,seeds,origin,relation,error,band,outcome,follows
1,F1,q,one,percent,10,,,1,fitted,equal,,1,no value,no
1,F2,q,two,percent,5,,,1,fitted,equal,,1,no value,no
1,F2,order,three,percent,0,,,1,derived,at_least,,0,no value,yes
C
"$thermix" posterior hand --show sets --format csv > sets.txt 2> effective.txt
# weights: 1, 1/2, 1/10 * 1/5, 1/101
awk -F, 'NR == 1 { next } { want = $1 == 0 ? 1 : $1 == 1 ? 0.5 : $1 == 2 ? 0.02 : 1 / 101; d = $2 - want; if (d * d > 1e-12) exit 1; n++ }
  END { exit n != 4 }' sets.txt || fail "weights: $(cat sets.txt)"
grep -q '^4 sets, as many as 1.9 of equal weight; without F1 3.4, F2 2.1$' effective.txt || fail "effective: $(cat effective.txt)"
"$thermix" posterior hand --format csv 2> /dev/null > values.txt
cell() { awk -F, -v row="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } $3 == row { print $c }' values.txt; }
[ "$(cell one rest_95) $(cell one all_95) $(cell two rest_95) $(cell two all_50)" = "20 11 7 5" ] || fail "quantiles: $(cat values.txt)"
# by figure 1, weights 1, 1/2, 1/10, 1/101: the order holds in all but set 1
awk -v p="$(cell three p_rest)" 'BEGIN { w = 1 + 0.1 + 1 / 101; d = p - w / (w + 0.5); exit !(d * d < 1e-12) }' || fail "an order: $(cell three p_rest)"
# the rows in another order: the same bytes; what does not join or is no number is refused with its line
mkdir mixed
(head -1 hand/sets.csv; tail -n +2 hand/sets.csv | tac) > mixed/sets.csv
awk -F, 'NR == 1 { print "value," $0; next } { row[NR] = "v" NR - 1 "," $0 } END { print row[4]; print row[2]; print row[3] }' hand/values.csv > mixed/values.csv
"$thermix" posterior mixed --format csv 2> err.txt | sort > mixed.txt
sort values.txt | cmp - mixed.txt || fail "an order of rows: $(cat mixed.txt)"
grep -q warning err.txt && fail "names of values: $(cat err.txt)"
refused() { # FILE SED MESSAGE
  rm -rf bad && cp -r mixed bad && sed "$2" "mixed/$1" > "bad/$1"
  "$thermix" posterior bad > out.txt 2>&1 && fail "$2 is taken"
  grep -q "$3" out.txt || fail "$2: $(cat out.txt)"
}
refused values.csv 2d 'values.csv:1: 2 printed values, expected 3, for v1 to v3 of'
refused values.csv 's/^v3/v2/' 'values.csv:4: value: "v2"'
refused values.csv 's/at_least/least/' 'values.csv:2: relation: "least", expected equal, at_most, at_least'
refused values.csv 's/,no$/,maybe/' 'follows: "maybe", expected no, yes'
refused values.csv '3s/,1,no value/,0,no value/' 'values.csv:3: band: "0", expected above 0'
refused values.csv '3s/,1,no value/,abc,no value/' 'band: "abc", expected a number'
refused sets.csv 's/13,7,1/13,0x7,1/' 'sets.csv:4: v2: "0x7", expected a number'
refused sets.csv '1s/$/,importance/; 2,$s/$/,-1/' 'sets.csv:3: importance: "-1", expected a number from 0 on'
refused sets.csv 's/^2,/1,/' 'set: "1", expected each set once'
refused sets.csv 's/screened/Done/' 'status: "Done", expected done, screened, failed, not run'
# words: nine values in three groups of neighbours, eta^2 = 1 - 6/60 of the ranks; less chance sqrt(1 - 0.1 * 8 / 6)
mkdir words
echo set,status,w,v1 > words/sets.csv
for i in 5.c.1 0.a.20 1.b.10 2.a.21 3.b.11 4.a.22 6.c.2 7.c.3 8.b.12; do echo "$i" | sed 's/\./,done,/; s/\./,/'; done >> words/sets.csv
printf 'value,figure,quantity,case,paper_value,relation,band,follows\nv1,F,q,one,10,equal,1,no\n' > words/values.csv
"$thermix" posterior words --format csv 2> /dev/null | grep -q ',w 0.93$' || fail "words: $("$thermix" posterior words --format csv)"
# columns of later versions: an importance, a band with what numerics and model move, two values weighed as one, one that has no weight.
# Set 0: 2 * 1/2 * 1; set 1: 1/2 / (1 + (0.5)^2) * 1/2; set 2: 1/(1 + (2.5 / sqrt 2)^2 ...) by hand below
mkdir later
sed '1s/$/,importance,other/; 2s/$/,2,1/; 3s/$/,0.5,1/; 4s/$/,1,1/; 5s/$/,0,1/; 6s/$/,1,1/' hand/sets.csv > later/sets.csv
cat > later/values.csv <<'C'
paper,figure,quantity,case,unit,paper_value,ours,sd,seeds,origin,relation,error,band,outcome,follows,spread,as_one,weighs
1,F1,q,one,percent,10,,,1,fitted,equal,,1,no value,no,0.75,both,yes
1,F2,q,two,percent,5,,,1,fitted,equal,,1,no value,no,0,both,yes
1,F3,order,three,percent,0,,,1,derived,at_least,,0,no value,yes,0.4,,yes
1,F4,q,four,percent,10,,,1,fitted,equal,,1,no value,no,0,,no
C
sed -i '1s/v3,importance/v3,v4,importance/; 2,$s/\(,[^,]*,[^,]*\)$/,10\1/; 4s/,10,1,1/,13,1,1/' later/sets.csv
"$thermix" posterior later --show sets --format csv > sets.txt 2> /dev/null
# z of set 0: 0; of set 1: (1/1.25 + 0) / 2 = 0.4; of set 2: (3/1.25 + 2) / 2 = 2.2; importance 2, 0.5, 1; set 3 has none
awk -F, 'NR == 1 { next } { w = $1 == 0 ? 1 : $1 == 1 ? 0.25 / 1.16 : 0.5 / 5.84; d = $2 - w; if (d * d > 1e-12) exit 1; n++ } END { exit n != 3 }' sets.txt ||
  fail "weights of later columns: $(cat sets.txt)"
"$thermix" posterior later --format csv 2> /dev/null > values.txt
# without F1 value two weighs alone: 2, 1/2, 1/5; value one is in band in the first two sets
awk -v p="$(cell one p_rest)" 'BEGIN { d = p - 2.5 / 2.7; exit !(d * d < 1e-12) }' || fail "a figure left out of two as one: $(cat values.txt)"
# value four changes only the columns more_*: set 2 is three bands off it
awk -v p="$(cell three p_clear)" -v q="$(cell three p_all)" 'BEGIN { a = 1 + 0.5 / 5.84; w = a / (a + 0.25 / 1.16); d = p - w; e = q - w; exit !(d * d < 1e-12 && e * e < 1e-12) }' ||
  fail "clearly: $(cat values.txt)"
[ "$(cell one all_95) $(cell one more_95)" = "13 11" ] && [ "$(cell one all_50) $(cell one prior_50)" = "10 10" ] || fail "with what does not weigh: $(cat values.txt)"
"$thermix" posterior later --importance other --show sets --format csv 2> /dev/null | grep -q '^3,' || fail "--importance"
awk -F, -v OFS=, 'NR > 1 { $(NF - 1) = 0 } 1' later/sets.csv > sets.csv; mkdir -p none; cp later/values.csv none/; mv sets.csv none/sets.csv
"$thermix" posterior none > out.txt 2>&1 && fail "sets of no importance are weighed"
grep -q '0 sets were run in full, have an importance above 0, too few to weigh' out.txt || fail "sets of no importance: $(cat out.txt)"
"$thermix" posterior later --importance none > out.txt 2>&1 && fail "--importance takes a column that there is not"
"$thermix" posterior hand --where 'a>=2' --show sets --format csv 2> /dev/null | grep -q '^0,' && fail "--where keeps set 0"
"$thermix" posterior hand --where 'c=1' > out.txt 2>&1 && fail "--where takes a column that there is not"
"$thermix" posterior hand --show axes --format csv 2> /dev/null | grep -q '^b,x,,,,,,,0.5,' || fail "shares of words"

# 2. a suite: its screen, its axes, its resumption
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g; s/^policies/sets = { sample = { method = \"sobol\"; n = 4; }; axes = ( { key = \"package.r_convec\"; range = { from = 0.2; to = 0.3; }; }, { key = \"\$hot\"; range = { from = 88.0; to = 89.0; }; } ); screen = ( { of = \"hot_cold\"; policy = \"BL\"; column = \"peak_temp_c\"; to = 89.9; } ); };&/; s/\"mix_policy.emergency_c=88.5\"/\"mix_policy.emergency_c=\$hot\"/" \
  "$root/tests/golden/tabs_small/suite.cfg" > suite.cfg
"$thermix" table ./suite.cfg -j 2 -o sets -q > /dev/null
cp sets/sets.csv first.csv
"$thermix" table ./suite.cfg -j 1 -o sets > /dev/null 2> again.txt
cmp sets/sets.csv first.csv || fail "the same sets give another table"
grep -q ' 0 to do' again.txt || fail "sets that are done are run again: $(cat again.txt)"
cut -d, -f2 sets/sets.csv | sort | uniq -c | tr -s ' ' > status.txt
grep -q ' screened' status.txt && grep -q ' done' status.txt || fail "the screen divides nothing: $(cat sets/sets.csv)"
sed 's/policy = "BL"; column = "peak_temp_c"; to = 89.9;/policy = "MU"; column = "improvement_over_bl_pct"; from = -1e6;/' suite.cfg > over.cfg
"$thermix" table ./over.cfg -o over -q > /dev/null && ! grep -q screened over/sets.csv || fail "a screen over the baseline has no number: $(cat over/sets.csv)"
row=$(grep ',done,' sets/sets.csv | tail -1)
r=$(echo "$row" | cut -d, -f3) hot=$(echo "$row" | cut -d, -f4)
sed "s|@FOLDER@|$root/tests/golden/tabs_small|g; s/\"mix_policy.emergency_c=88.5\"/\"mix_policy.emergency_c=$hot\"/" "$root/tests/golden/tabs_small/suite.cfg" > one.cfg
"$thermix" table ./one.cfg -j 2 -o one -q --set package.r_convec="$r" > /dev/null
awk -F, -v set="$(echo "$row" | cut -d, -f5)" 'NR == 2 { d = $7 - set; exit !(d * d < 1e-18) }' one/paper.csv || fail "a set is not its suite: $row, $(cat one/paper.csv)"
sed '0,/=\$hot/s//=$cold/' suite.cfg > bad.cfg
"$thermix" table ./bad.cfg -q > out.txt 2>&1 && fail "an axis that there is not"
grep -q 'no axis "\$cold"' out.txt || fail "an axis that there is not: $(cat out.txt)"
sed 's/key = "\$hot"/key = "$cold"; values = [1]; }, { &/' suite.cfg > bad.cfg
"$thermix" table ./bad.cfg -q > out.txt 2>&1 && fail "an axis that no policy names"
grep -q 'bad.cfg:.*axis \$cold: no policy names it' out.txt || fail "an axis that no policy names: $(cat out.txt)"
"$thermix" table ./suite.cfg -q --set package.r_convec=0.25 > out.txt 2>&1 && fail "--set overrides an axis"
grep -q 'set package.r_convec=0.25: an axis of `sets` gives this key' out.txt || fail "--set of an axis: $(cat out.txt)"
echo "1 passed, 0 failed"
