#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The report in a real browser: loads without errors (its load time is printed), the player moves, a block says its
# temperature and power, tables sort. Usage: report.sh THERMIX ROOT [--looks]
set -euo pipefail
thermix=$1
scripts=$(cd "$(dirname "$0")/../../plots/scripts" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$dir/cache}
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
cat >study.cfg <<'S'
name = "tiny"; base = "./run.cfg"; seed = 1;
axes = ( { key = "policy"; values = ["BL", "MU"]; }, { key = "chip_power.baseline_w"; values = [30.0, 40.0]; } );
S
"$thermix" sweep study.cfg -o study.sqlite -q >/dev/null || say "the study"
mkdir tabs
{
  echo "mix,policy,slowdown_pct,improvement_over_bl_pct,energy_j,energy_saved_vs_bl_pct,variant,error"
  for mix in 1 2 3 4 5 6 7 8 9 10; do
    for p in BL DVFS A MU MNU MA; do echo "WL$mix,$p,$((mix * 7 % 10)).5,$mix,$((80000 - mix)),1,,"; done
  done
} >tabs/table.csv
"$thermix" report tabs BL MU study.sqlite -o report.html --title 'Test </script><b>' >/dev/null
size=$(stat -c %s report.html)
[ "$size" -lt 5000000 ] || say "$size bytes"
if grep -qE '(src|href)="(https?:)?//' report.html; then say the page needs the network; fi
grep -q 'every 1 of the run' report.html || say sampling not stated

# The verdict: what limited the runs and what would help, from explain.
grep -q '"words":"The hottest SM reached' report.html || say "no verdict"
grep -q '"steps":\[\["' report.html || say "nothing that would help"
# ... and what the slowdown of a study depends on, and fans that stop
sed 's/baseline_w"; values = .30.0, 40.0./leakage_w"; values = [20.0, 30.0]/; s/^name = "tiny"/set = ["throttle.trip_c=60.0", "throttle.release_c=59.0"]; &/' study.cfg >leaky.cfg
"$thermix" sweep leaky.cfg -o leaky.sqlite -q >/dev/null || say "a leaky study"
"$thermix" run run.cfg --set topology=gtx280x2 '--set=fan_failures=({fan="fan0";at_s=1.5;})' -q -o failing || say "a fan that stops"
"$thermix" report leaky.sqlite failing --no-explain --no-what-if -o findings.html >/dev/null
grep -o '"findings":.*"tables"' findings.html >findings.txt || true
grep -q '\["leaky.sqlite","slowdown_pct depends on chip_power.leakage_w (99 %) of its variance' findings.txt && grep -qF '["failing","Fan fan0 stops at 1.5 s."]' findings.txt ||
  say "findings: $(cut -c1-300 findings.txt)"
"$thermix" report BL --no-what-if --no-explain -o plain.html >/dev/null && grep -q '"verdicts":\[\]' plain.html || say "--no-explain"
# A calibration's folder, a replay's table and a folder of figures are results, too.
mkdir -p mine drawn && printf 'parameter,gpu,run,value,unit,standard_error,low_95,high_95,status,note\nupstream,0,,0,,,,,identified,\nsink,0,,0.2,K/W,0.01,0.18,0.22,identified,\ndie_s,,,0.1,s,1,,,not identified,\n' >mine/fit.csv
printf 'run,gpu,rows,rmse_k,bias_k,max_abs_k\na,0,100,0.5,0,1\na,1,100,0.7,0,2\n' >errors.csv
printf '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' >drawn/one.svg
"$thermix" report mine errors.csv drawn -o others.html >/dev/null || say "a calibration, a replay, figures"
for words in '"of":"mine","title":"fit.csv"' '"title":"errors.csv"' '"name":"one"'; do grep -qF "$words" others.html || say "no $words in the page"; done
# A hall: few figures, a page of at most 3 MB. plot: the overview and the ten hottest.
cat >hall.cfg <<'R'
chip = "gtx280"; gpus = 32; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;
R
"$thermix" run hall.cfg -o hall --trace 0.5 --hotspot 0.5 -q
"$thermix" report hall -o hall.html >/dev/null && [ "$(stat -c %s hall.html)" -lt 3000000 ] || say "a hall of $(stat -c %s hall.html) bytes"
"$thermix" plot hall -o halls >plotted.txt 2>&1 && [ "$(find halls -name '*.svg' | wc -l)" -le 31 ] && [ -s halls/hall.svg ] || say "figures of a hall: $(ls halls)"
grep -q '32 GPUs: the overview and the 10 hottest' plotted.txt || say "which GPUs of a hall were drawn"
"$thermix" plot hall -o one.svg --figure temperature_gpu31 -q && [ -s one.svg ] || say "a figure of one GPU of a hall"

grep -q '"models":\[{' report.html || say "no model for the what-if"
"$thermix" report BL --no-what-if -o small.html >/dev/null && grep -q '"models":\[\]' small.html || say "--no-what-if"

# What `thermix thermal` says of one power a block, at the second slowest fan and another air: 40 rows and the
# steady state. The page is asked for the same below.
fan=$(sed 's/.*"r_convec":\[[^,]*,\([^,]*\),.*/\1/; t; d' report.html)
{
  head -1 BL/power.ptrace
  for _ in $(seq 40); do head -1 BL/power.ptrace | awk '{ for (i = 0; i < NF; i++) printf "%s%s", 0.5 + i % 5, i < NF - 1 ? "\t" : "\n" }'; done
} >what.ptrace
for options in '-o what.ttrace' '-steady_file what.steady'; do
  # shellcheck disable=SC2086
  "$thermix" thermal -c BL/thermal.config -f BL/floorplan_gpu0.flp -p what.ptrace $options -r_convec "$fan" -ambient 300.15 --precision 6 --quiet
done

if [ -z "$browser" ]; then
  echo "no Chromium installed: the page is written ($size bytes) but not opened; ./dev test --all installs it"
  exit 77
fi

# What gnuplot paints names with.
names="BL mine yours WL1 WL2 WL3 WL4 WL5 WL6 WL7 WL8 WL9 0.25 nothing-like-it"
painted() {
  { echo key,text; printf 'name,%s\n' $names; } >painted_labels.csv
  gnuplot -e "scripts='$scripts/'; data='painted.csv'; out='/dev/null'" -e "load scripts.'labels.gp'; load scripts.'style.gp'; load scripts.'paint.gp'; set print '-'; do for [i=1:n_name] { print paint(i) }"
}

# What the page must do, checked from inside: an error handler before its script, questions after.
cat >before.html <<'B'
<script>window.faults = []; window.addEventListener("error", (e) => faults.push(e.message)); console.error = (m) => faults.push(String(m));</script>
B
{
  echo '<script>{'
  echo "const expected_k = [$(tail -1 what.ttrace | tr '\t ' ',,' | sed 's/,,*/,/g; s/,$//')];"
  echo "const steady_k = [$(awk '{ printf "%s%s", s, $2; s = "," }' what.steady)];"
  echo "const painted = [$(for name in $names $(painted); do printf '"%s",' "$name"; done)];"
  cat <<'A'
const verdict = [];
const ask = (name, ok) => verdict.push((ok ? "ok " : "NOT ") + name);
const loaded = performance.now();
console.log("loaded in " + Math.round(loaded) + " ms (2000 wanted on a quiet machine; not a test)");
ask("title is text", document.querySelector("h1").textContent === "Test <" + "/script><b>");
const tabs = [...document.querySelectorAll("table")].find((t) => t.caption.textContent.startsWith("tabs: "));
const cells = (i) => [...tabs.tBodies[0].rows].map((r) => r.cells[i].textContent);
const sorter = tabs.tHead.rows[0].cells[2].firstChild;
sorter.click();
const up = cells(2).map(Number);
ask("sorts upward", up.length === 60 && up.every((v, i) => i === 0 || up[i - 1] <= v));
sorter.click();
const down = cells(2).map(Number);
ask("sorts downward", down.every((v, i) => i === 0 || down[i - 1] >= v) && down[0] > down[59]);
ask("says how it is sorted", sorter.parentElement.getAttribute("aria-sort") === "descending");

// The player.
const run = data.runs[1], n = run.units.length, slider = document.getElementById("time");
const maps = () => [...document.querySelectorAll("#heat .map")];
const block = () => maps()[1].querySelector('[data-unit="' + run.units[3].name + '"]');
const counted = data.runs.flatMap((r) => r.temp_dc.filter((_, i) => r.time_s[Math.floor(i / r.units.length)] >= 0));
ask("opens where it is hottest", maps().some((m) => m.querySelector("h3").textContent.includes((Math.max(...counted) / 10).toFixed(1) + " °C")));
ask("every map says whose it is", maps().every((m, i) => m.querySelector("h3").textContent.includes(["BL (BL)", "MU (MU)"][i])));
const ends = () => ["heat", "what-if"].map((id) => document.querySelector(`#${id} .scale`).getAttribute("aria-label"));
const same = ends()[0];
ask("one scale for the player and the what-if, around the measured temperatures and the limit", ends()[1] === same && /limit at 90/.test(same) &&
  Number(/from (-?\d+)/.exec(same)[1]) < Math.min(...counted) / 10 && Number(/to (\d+)/.exec(same)[1]) > Math.max(...counted) / 10);
ask("opens with the verdict: what was run, what limited it, what would help", document.querySelector("main section").id === "verdict" &&
  /tiny under BL ended after [\d.]+ s and lost [\d.]+ %.*What limited it: .*What would help: /.test(document.getElementById("verdict").textContent));
const served = runVerdict({ of: "x", words: "BL", s: { mix: "m", requests_done: 60, makespan_s: 48.8, tokens_per_s: 149.4, j_per_token: 10.51, ttft_p50_s: 0.12, ttft_p99_s: 0.91, tbt_p50_s: 0.063, tbt_p99_s: 0.109, row_peak_w: 3801, brakes: 2, brake_s: 5 } }).join(" ");
ask("says of a served model what it served and how fast", /served 60 requests in 48.8 s: 149 tokens.s at 10.51 J.*0.12 s.*63 ms.*3.8 kW.*acted 2 times, for 5.0 s/.test(served) && !/busy time/.test(served));
const given = data.tables.length;
data.tables.push({ of: "cal", title: "fit.csv", columns: ["parameter", "gpu", "run", "value", "unit", "status"], rows: [["sink_k_per_w", 0, null, 0.05, "K/W", "fitted"], ["sink_k_per_w", 1, null, 0.06, "K/W", "fitted"]] },
  { of: "rp", title: "rp.csv", columns: ["run", "gpu", "rows", "peak_c", "peak_if_c", "rmse_k"], rows: [["a", "0", 10, 50, 58, 0.3]] },
  { of: "v", title: "v.csv", columns: ["what", "measured", "ours", "holds", "unit"], rows: [["p50", 40, 36.8, "no", "degC"], ["p75", 51, 53, "yes", "degC"]] });
const others = otherVerdicts().map((x) => x[1]).join(" ");
ask("has a sentence on a calibration, a what-if and a validation: " + others, /sink_k_per_w = 0.05\d* to 0.06\d* K.W by GPU/.test(others) && /GPU, 0, reaches 58.0 °C .50.0 °C as it was/.test(others) && /1 of 2 measurements agree.*Not within: p50 .measured 40/.test(others));
data.tables.length = given;
ask("compares the runs on the same axes", /busy time lost.*\(−/.test(document.getElementById("compare").textContent) && document.querySelectorAll("#compare polyline").length === 2);
const color = block().getAttribute("fill");
slider.value = run.time_s[0];
slider.dispatchEvent(new Event("input"));
ask("the player moves", block().getAttribute("fill") !== color);
slider.value = run.time_s[40];
slider.dispatchEvent(new Event("input"));
block().dispatchEvent(new MouseEvent("mouseenter"));
const expected = (run.temp_dc[40 * n + 3] / 10).toFixed(1) + " °C, " + (run.power_cw[40 * n + 3] / 100).toFixed(2) + " W";
ask("hover says " + expected, document.getElementById("readout").textContent.endsWith(run.units[3].name + ": " + expected));
const hottest = run.temp_dc.slice(40 * n, 41 * n).reduce((b, t, i, all) => (t > all[b] ? i : b), 0);
ask("the hottest block is marked", maps()[1].querySelector(".hottest").getAttribute("x") === maps()[1].querySelector('[data-unit="' + run.units[hottest].name + '"]').getAttribute("x"));
block().focus();
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
press("ArrowRight");
const there = run.units.find((u) => u.name === document.activeElement.dataset.unit);
ask("arrow keys go to a neighbour", there.x > run.units[3].x && Math.abs(there.y - run.units[3].y) < run.units[3].h);
ask("blocks have labels", document.activeElement.getAttribute("aria-label").startsWith(there.name + ": "));
ask("slider says the time", /seconds/.test(slider.getAttribute("aria-valuetext")));
ask("two maps side by side", maps().length === 2);

// The what-if, against `thermix thermal`.
const furthest = (a, b) => Math.max(...a.map((v, i) => Math.abs(v - b[i])));
const move = (input, value) => { input.value = value; input.dispatchEvent(new Event("input")); };
const model = whatIf.model;
whatIf.setPaused(true);
ask("it starts in equilibrium", furthest([...model.temps()], [...model.temps(model.equilibrium(whatIf.power), whatIf.power)]) < 1e-9);
const power = run.units.map((_, i) => 0.5 + (i % 5));
whatIf.most = whatIf.most.map(() => 10);
whatIf.rows.forEach((row, i) => { row.input.max = 10; row.input.step = "any"; move(row.input, power[i]); });
ask("sliders set powers", furthest([...whatIf.power], power) < 1e-12);
move(whatIf.fan.input, 1);
move(whatIf.air.input, 27);
ask("warmer air does not move the scale", ends()[1] === same);
ask("sliders set fan and air", model.level === 1 && Math.abs(model.ambient_k - 300.15) < 1e-9 && whatIf.fan.box.textContent.includes("level 2 of 5"));
model.z = model.uniform(data.models[0].init_k);
for (let row = 0; row < 40; row++) model.step(data.models[0].interval_s, whatIf.power);
const off = furthest([...model.temps()], expected_k), settled = model.temps(model.equilibrium(whatIf.power), whatIf.power);
ask(`the page's transient is that of thermix thermal (${off.toExponential(1)} K off)`, expected_k.length === n && off < 1e-3);
ask(`its equilibrium, too (${furthest([...settled], steady_k).toExponential(1)} K off)`, steady_k.length >= n && furthest([...settled], steady_k) < 1e-3);
model.setLevel(3);
model.step(1, whatIf.power);
const before = [...model.temps()];
model.setLevel(0);
ask("a turn of the fan moves no temperature at once", furthest(before, [...model.temps()]) < 1e-4);
const live = document.querySelector("#what-if .map"), at = (i) => live.querySelector('[data-unit="' + run.units[i].name + '"]');
at(3).focus();
press("x");
at(4).focus();
press("x");
ask("x on two blocks exchanges them", whatIf.power[3] === power[4] && whatIf.power[4] === power[3]);
const heated = whatIf.power[4];
press("+");
ask("+ heats", whatIf.power[4] > heated && whatIf.rows[4].says.textContent === whatIf.power[4].toFixed(2) + " W");
at(4).scrollIntoView({ block: "center" });
const middle = (i) => { const r = at(i).getBoundingClientRect(); return { clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, bubbles: true, pointerId: 1 }; };
const [one, other] = [whatIf.power[5], whatIf.power[7]];
at(5).dispatchEvent(new PointerEvent("pointerdown", middle(5)));
at(7).dispatchEvent(new PointerEvent("pointerup", middle(7)));
ask("dragging exchanges", whatIf.power[5] === other && whatIf.power[7] === one);
whatIf.show();
ask("the equilibrium is said", document.getElementById("what-if").textContent.includes((Math.max(...model.temps(model.equilibrium(whatIf.power), whatIf.power)) - 273.15).toFixed(2)));
const t0 = performance.now();
for (let i = 0; i < 20; i++) { model.step(0.01, whatIf.power); whatIf.show(); }
console.log(`a frame of the what-if takes ${((performance.now() - t0) / 20).toFixed(1)} ms (16 wanted; not a test)`);

// The study.
const axis = (key) => document.querySelector('#studies [data-axis="' + key + '"]');
const label = () => document.querySelector(".study svg").getAttribute("aria-label");
const first = label();
axis("y").value = (Number(axis("y").value) + 1) % axis("y").options.length;
axis("y").dispatchEvent(new Event("change"));
ask("axes can be chosen", label() !== first && label().startsWith(axis("y").selectedOptions[0].textContent + " against chip_power.baseline_w, by policy"));
ask("a point a run", document.querySelectorAll(".study circle").length === 4);
const seeds = plot({ columns: ["policy", "seed", "v"], axes: 2, rows: [["BL", 1, 1], ["BL", 2, 2], ["BL", 3, 3]] }, { x: 0, y: 2, by: -1 });
ask("seeds have an interval", Math.abs(moments([1, 2, 3]).half - 2.4841) < 1e-3 && seeds[0].querySelectorAll(".interval").length === 1);
ask("the caption names n and the interval", /over seed \(n = 3\), with the 95 % interval/.test(seeds[1].textContent));
ask("what is no repetition has no interval", plot({ columns: ["policy", "watt", "v"], axes: 2, rows: [["BL", 1, 1], ["BL", 2, 2]] }, { x: 0, y: 2, by: -1 })[0].querySelectorAll(".interval").length === 0);

// Names that the table of colours lacks have the same ones in figures and here.
const asked = painted.slice(0, painted.length / 2);
ask("colours of names are those of figures", paint(asked).join() === painted.slice(asked.length).join() && new Set(paint(asked)).size === 12);

// For everybody.
const luminance = (css) => {
  const rgb = css.startsWith("#") ? [...css.slice(1).replace(/^(.)(.)(.)$/, "$1$1$2$2$3$3").matchAll(/../g)].map((h) => parseInt(h, 16)) : css.match(/\d+/g).map(Number);
  const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
ask("labels of blocks stand out", Array.from({ length: 101 }, (_, i) => contrast(colour(i / 100), i / 100 < DARK ? "#ffffff" : "#000000")).every((c) => c >= 4.5));
const sets = [...document.styleSheets[0].cssRules].flatMap((r) => (r.conditionText && /dark|print/.test(r.conditionText) ? [...r.cssRules] : [r])).filter((r) => r.selectorText === ":root");
ask("texts stand out in light, dark and print", sets.length === 3 && sets.every((r) => ["--ink", "--soft", "--mark"].every((v) =>
  ["--paper", "--head"].every((back) => contrast(r.style.getPropertyValue(v).trim(), r.style.getPropertyValue(back).trim()) >= 4.5))));
const backOf = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "#ffffff"; };
const faint = [...document.querySelectorAll("body *")].filter((e) => !e.closest("script, .map svg") && e.getClientRects().length && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .filter((e) => contrast(e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color, backOf(e)) < 4.5);
ask("every text stands out from what is behind it" + (faint.length ? ": " + faint[0].tagName + " " + faint[0].textContent.slice(0, 30) : ""), faint.length === 0);
ask("shown in " + scheme, matchMedia("(prefers-color-scheme: dark)").matches === (scheme === "dark"));
ask("every control has a name", [...document.querySelectorAll("input, select, button")].every((e) => e.getAttribute("aria-label") || (e.labels && e.labels.length) || e.textContent.trim()));
ask("figures are there", document.querySelectorAll("figure img").length >= 5);
ask("every figure has a text that says whose it is", [...document.images].every((i) => / of (tabs|BL|MU|study.sqlite)$/.test(i.alt)));
ask("no network", performance.getEntriesByType("resource").every((e) => e.name.startsWith("data:") || e.name.startsWith("blob:")));
ask("fits its width", document.documentElement.scrollWidth <= innerWidth);
ask("no errors" + (faults.length ? ": " + faults : ""), faults.length === 0);
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "verdict", textContent: verdict.join("\n") + "\nend" }));
}</script>
A
} >after.html
awk 'FNR == NR { b = b $0 "\n"; next } /<title>/ { print b } { print }' before.html report.html >with.html
awk 'FNR == NR { a = a $0 "\n"; next } /<\/body>/ { printf "%s", a } { print }' after.html with.html >asked.html
# On a desk; with --looks (slow) at night and on a phone, too.
for look in 1200,900,light ${3:+1200,900,dark 360,740,light}; do
  window=${look%,*}
  sed "s/^const verdict/const scheme = \"${look##*,}\";\n&/" asked.html >page.html
  night=--blink-settings=preferredColorScheme=1
  [ "${look##*,}" = light ] || night=--force-dark-mode
  # shellcheck disable=SC2086
  timeout 60 "$browser" --enable-logging=stderr $night --headless --no-sandbox --disable-gpu --hide-scrollbars --host-resolver-rules='MAP * ~NOTFOUND' --window-size=$window \
    --user-data-dir="$dir/profile" --dump-dom "file://$dir/page.html" >dom.html 2>browser.log || say "the browser: $(tail -3 browser.log)"
  sed -n '/<pre id="verdict">/,/^end/p' dom.html | sed 's/.*<pre id="verdict">//; /^end/d' >verdict.txt
  echo "window $look"
  cat verdict.txt
  [ "$(grep -c '^ok ' verdict.txt)" = 45 ] && ! grep -q '^NOT ' verdict.txt || { grep -i console browser.log | head -3; say see above; }
done
echo "the page is $size bytes"
