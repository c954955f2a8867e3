#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The report in a real browser: loads without errors (its load time is printed), the player moves, a block says its
# temperature and power, tables sort. Usage: report.sh THERMIX
set -euo pipefail
thermix=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=$dir/cache
say() { echo "FAILED: $*"; exit 1; }

cat >mix.cfg <<'M'
name = "tiny"; kernels = ( { kernel = "SVM"; work_s = 3.0; }, { kernel = "Cmem"; work_s = 3.0; } );
M
cat >run.cfg <<'R'
mix = "./mix.cfg"; seed = 1; tick_s = 0.005; rows = 8; cols = 8;
R
for policy in BL MU; do
  "$thermix" run run.cfg --set policy=$policy -o $policy --trace 0.05 --hotspot 0.05 -q
done
mkdir tabs
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,energy_j,energy_saved_vs_bl_pct,variant,error"
  for mix in 1 2 3 4 5 6 7 8 9 10; do
    for p in BL DVFS A MU MNU MA; do echo "WL$mix,$p,$((mix * 7 % 10)).5,$mix,$((80000 - mix)),1,,"; done
  done
} >tabs/table.csv
"$thermix" report tabs BL MU -o report.html --title 'Test </script><b>' >/dev/null
size=$(stat -c %s report.html)
[ "$size" -lt 5000000 ] || say "$size bytes"
if grep -qE '(src|href)="(https?:)?//' report.html; then say the page needs the network; fi
grep -q 'every 1 of the run' report.html || say sampling not stated

if [ -z "$browser" ]; then
  echo "no Chromium installed: the page is written ($size bytes) but not opened; ./dev test --all installs it"
  exit 77
fi

# What the page must do, checked from inside: an error handler before its script, questions after.
cat >before.html <<'B'
<script>window.faults = []; window.addEventListener("error", (e) => faults.push(e.message)); console.error = (m) => faults.push(String(m));</script>
B
cat >after.html <<'A'
<script>
const verdict = [];
const ask = (name, ok) => verdict.push((ok ? "ok " : "NOT ") + name);
const loaded = performance.now();
console.log("loaded in " + Math.round(loaded) + " ms (2000 wanted on a quiet machine; not a test)");
ask("title is text", document.querySelector("h1").textContent === "Test <" + "/script><b>");
const cells = (i) => [...document.querySelectorAll("table")[0].tBodies[0].rows].map((r) => r.cells[i].textContent);
const sorter = document.querySelectorAll("table")[0].tHead.rows[0].cells[2].firstChild;
sorter.click();
const up = cells(2).map(Number);
ask("sorts upward", up.length === 60 && up.every((v, i) => i === 0 || up[i - 1] <= v));
sorter.click();
const down = cells(2).map(Number);
ask("sorts downward", down.every((v, i) => i === 0 || down[i - 1] >= v) && down[0] > down[59]);
ask("says how it is sorted", sorter.parentElement.getAttribute("aria-sort") === "descending");
const run = data.runs[1], n = run.units.length, slider = document.getElementById("time");
const block = () => document.querySelectorAll(".map")[1].querySelector('[data-unit="' + run.units[3].name + '"]');
const color = block().getAttribute("fill");
slider.value = 40;
slider.dispatchEvent(new Event("input"));
ask("the player moves", block().getAttribute("fill") !== color);
block().dispatchEvent(new MouseEvent("mouseenter"));
const expected = (run.temp_dc[40 * n + 3] / 10).toFixed(1) + " °C, " + (run.power_cw[40 * n + 3] / 100).toFixed(2) + " W";
ask("hover says " + expected, document.getElementById("readout").textContent.endsWith(run.units[3].name + ": " + expected));
block().focus();
block().dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
ask("arrow keys go on", document.activeElement.dataset.unit === run.units[4].name);
ask("blocks have labels", document.activeElement.getAttribute("aria-label").startsWith(run.units[4].name + ": "));
ask("slider says the time", /seconds/.test(slider.getAttribute("aria-valuetext")));
ask("two maps side by side", document.querySelectorAll(".map").length === 2);
ask("figures are there", document.querySelectorAll("figure img").length >= 5);
ask("every figure has a text", [...document.images].every((i) => i.alt));
ask("no errors" + (faults.length ? ": " + faults : ""), faults.length === 0);
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "verdict", textContent: verdict.join("\n") + "\nend" }));
</script>
A
awk 'FNR == NR { b = b $0 "\n"; next } /<title>/ { print b } { print }' before.html report.html >with.html
awk 'FNR == NR { a = a $0 "\n"; next } /<\/body>/ { printf "%s", a } { print }' after.html with.html >asked.html
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
  --dump-dom "file://$dir/asked.html" >dom.html 2>browser.log || say "the browser: $(tail -3 browser.log)"
sed -n '/<pre id="verdict">/,/^end/p' dom.html | sed 's/.*<pre id="verdict">//; /^end/d' >verdict.txt
cat verdict.txt
[ "$(grep -c '^ok ' verdict.txt)" = 13 ] && ! grep -q '^NOT ' verdict.txt || say see above
echo "the page is $size bytes"
