/* SPDX-License-Identifier: GPL-3.0-or-later */
// What a reader wants first: sentences about each result, what differs between the runs, and a hall at a glance.

// The rows of a result's file as objects; none where the page has not got it.
function rowsOf(of, file) {
  const t = data.tables.find((x) => x.of === of && x.title === file);
  return t ? t.rows.map((r) => Object.fromEntries(t.columns.map((c, i) => [c, r[i]]))) : [];
}

const fixed = (v, digits = 1) => (v === null || v === undefined ? "–" : Math.abs(v) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : v.toFixed(digits));
const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const results = [...new Set(data.tables.map((t) => t.of))];
// Runs by what tells them apart: the policy, and the folder where that is not enough.
const runsGiven = results.flatMap((of) => rowsOf(of, "summary.csv").slice(0, 1).map((s) => ({ of, s, words: s.policies || s.policy })));
for (const r of runsGiven) r.name = runsGiven.some((x) => x !== r && x.words === r.words) ? `${r.words} (${r.of})` : r.words;

// Of a run that served a language model.
function servingVerdict(r, nGpu) {
  const { s } = r, given = (v) => v !== null && v !== undefined;
  const sentences = [`${s.mix} under ${r.name}${nGpu > 1 ? ` on ${nGpu} GPUs` : ""} served ${many(s.requests_done, "request")} in ${fixed(s.makespan_s)} s: ${fixed(s.tokens_per_s, 0)} tokens/s at ${fixed(s.j_per_token, 2)} J a token.`,
    `The first token came after ${fixed(s.ttft_p50_s, 2)} s (median; the slowest hundredth: ${fixed(s.ttft_p99_s, 2)} s), the next ones every ${fixed(1000 * s.tbt_p50_s, 0)} ms (${fixed(1000 * s.tbt_p99_s, 0)} ms).`];
  if (given(s.row_peak_w)) sentences.push(`A row drew ${fixed(s.row_peak_w / 1000, 1)} kW at most.` +
    (s.brakes > 0 ? ` Its power brake acted ${many(s.brakes, "time")}, for ${fixed(s.brake_s)} s.` : ""));
  for (const [key, of] of [["capped_low_s", "of low priority"], ["capped_high_s", s.capped_low_s > 0 ? "of high priority" : ""]]) {
    if (s[key] > 0) sentences.push(`Its row policy limited the clocks of servers ${of} for ${fixed(s[key], 0)} s.`.replace("  ", " "));
  }
  if (given(s.peak_temp_c)) sentences.push(`The hottest unit reached ${fixed(s.peak_temp_c)} °C${s.peak_memory_c > 0 ? `, the hottest memory ${fixed(s.peak_memory_c)} °C` : ""}.`);
  sentences.push(`thermix explain ${r.of} finds out what requests waited for.`);
  return sentences;
}

function runVerdict(r) {
  const v = data.verdicts.find((x) => x.of === r.of), { s } = r, lost = s.slowdown_pct, gpus = rowsOf(r.of, "gpus.csv");
  if (r.s.requests_done !== undefined) return servingVerdict(r, gpus.length);
  const sentences = [`${s.mix} under ${r.name}${gpus.length > 1 ? ` on ${gpus.length} GPUs` : ""} ended after ${fixed(s.makespan_s)} s and lost ${fixed(lost)} % of its busy time.` +
    (s.status === "complete" ? "" : " Not all of its kernels ended.")];
  if (v) {
    sentences.push(...v.words.replaceAll(" degC", " °C").split("\n").filter((x) => x)); // of SMs and moments the page has pictures
    const [cause, pct] = v.causes.slice().sort((a, b) => b[1] - a[1])[0] ?? [];
    if (pct > 0.05) sentences.splice(1, 0, `What limited it: ${cause} (${fixed(pct)} % of the busy time).`);
    const help = v.steps.filter((x) => x[2] < lost - 0.05).slice(0, 3).map(([step, set, pct2]) => `${step} (${fixed(lost)} to ${fixed(pct2)} %, --set ${set})`);
    if (lost > 0.05) sentences.push(help.length ? `What would help: ${help.join("; ")}.` : "No single step of a knob that was tried helps.");
  } else {
    const below = s.below_trip_k;
    sentences.push(`The hottest unit reached ${fixed(s.peak_temp_c)} °C${below ? `, ${fixed(Math.abs(below))} K ${below > 0 ? "below" : "above"} the throttle's limit` : ""}.`);
    if (s.throttled_s > 0.05) sentences.push(`The throttle stopped clocks for ${fixed(s.throttled_s)} s.`);
    for (const [key, what] of [["sw_power_cap_s", "its power cap"], ["sw_thermal_slowdown_s", "its temperature"], ["memory_limit_s", "its memory's temperature"]]) {
      if (s[key] > 0.05) sentences.push(`The governor slowed a GPU for ${fixed(s[key])} s by ${what}.`);
    }
    const hot = gpus.slice().sort((a, b) => b.peak_temp_c - a.peak_temp_c)[0];
    if (gpus.length > 1) sentences.push(`The hottest GPU is ${hot.name ?? hot.gpu}: ${fixed(hot.peak_temp_c)} °C with air of ${fixed(hot.mean_inlet_c)} °C.`);
    if (lost > 0.05) sentences.push(`thermix explain ${r.of} finds out what would help.`);
  }
  return sentences;
}

// Sentences about results that are no runs.
function otherVerdicts() {
  const found = [];
  for (const t of data.tables) {
    const rows = rowsOf(t.of, t.title), has = (...names) => names.every((n) => t.columns.includes(n));
    if (t.title === "fit.csv") {
      const by = (pattern) => rows.filter((r) => pattern.test(r.status ?? "")), names = (list) => [...new Set(list.map((r) => r.parameter))].join(", ");
      const fitted = by(/^fitted/).filter((r) => !r.run), out = by(/^left out/), weak = by(/^not identified/);
      const of = (name) => { // one value, or from the least to the most of the GPUs
        const mine = fitted.filter((r) => r.parameter === name), values = mine.map((r) => r.value), low = shown(Math.min(...values)), high = shown(Math.max(...values));
        return `${name} = ${low === high ? low : `${low} to ${high}`} ${mine[0].unit === "1" ? "" : mine[0].unit ?? ""}${low === high ? "" : " by GPU"}`.trim();
      };
      found.push([t.of, `The calibration fitted ${names(fitted).split(", ").filter(Boolean).map(of).join(", ") || "nothing"}.` +
        (weak.length ? ` The log does not identify ${names(weak)}.` : "") + (out.length ? ` The log does not show ${names(out)}; the table names a log that would.` : "")]);
    } else if (has("rmse_k", "gpu") && rows.length) {
      const worst = rows.reduce((a, b) => (b.rmse_k > a.rmse_k ? b : a)), n = rows.reduce((a, r) => a + r.rows, 0);
      const rms = Math.sqrt(rows.reduce((a, r) => a + r.rmse_k ** 2 * r.rows, 0) / n);
      found.push([t.of, `Predicted and measured temperatures differ by ${fixed(rms, 2)} K rms over ${many(n, "row")}; the worst is GPU ${worst.gpu} in run ${worst.run}, ${fixed(worst.rmse_k, 2)} K.` + (has("peak_if_c", "peak_c")
        ? (() => { const hot = rows.reduce((a, b) => (b.peak_if_c > a.peak_if_c ? b : a)); return ` With the what-if the hottest GPU, ${hot.gpu}, reaches ${fixed(hot.peak_if_c)} °C (${fixed(hot.peak_c)} °C as it was).`; })() : "")]);
    } else if (has("measured", "ours", "holds") && rows.length) {
      const out = rows.filter((r) => r.holds !== "yes");
      found.push([t.of, `${rows.length - out.length} of ${many(rows.length, "measurement")} agree with thermix within their bands.${out.length ? ` Not within: ${out.map((r) => `${r.what} (measured ${shown(r.measured)}, ours ${shown(r.ours)} ${r.unit ?? ""})`).join("; ")}.` : ""}`]);
    } else if (has("outcome", "band") && rows.length) {
      const judged = rows.filter((r) => r.outcome !== "no value"), inside = judged.filter((r) => r.outcome === "in band");
      found.push([t.of, `${inside.length} of ${many(judged.length, "printed value")} of the paper are within their bands.`]);
    } else if (has("mix", "policy", "slowdown_pct") && rows.length > 1 && t.title === "table.csv") {
      const by = new Map();
      for (const r of rows.filter((x) => !/^mean/.test(x.mix))) by.set(r.policy, [...(by.get(r.policy) ?? []), r]);
      const mean = [...by].map(([p, rs]) => [p, rs.reduce((a, r) => a + r.slowdown_pct, 0) / rs.length]).sort((a, b) => a[1] - b[1]);
      if (mean.length > 1 && mean.at(-1)[1] - mean[0][1] < 0.005) found.push([t.of, `All ${mean.length} policies lose ${fixed(mean[0][1])} % in the mean.`]);
      else if (mean.length > 1) found.push([t.of, `${mean[0][0]} loses least, ${fixed(mean[0][1])} % in the mean of its ${many(by.get(mean[0][0]).length, "row")}; ${mean.at(-1)[0]} loses most, ${fixed(mean.at(-1)[1])} %.`]);
    }
  }
  return found;
}

const COMPARED = [["tokens_per_s", "tokens/s", 0], ["ttft_p99_s", "first token, slowest hundredth [s]", 2], ["tbt_p99_s", "between tokens, slowest hundredth [ms]", 0, 1e3],
  ["e2e_p99_s", "whole request, slowest hundredth [s]", 1], ["j_per_token", "energy a token [J]", 2], ["row_peak_w", "row's peak [kW]", 1, 1e-3], ["brakes", "power brakes", 0],
  ["slowdown_pct", "busy time lost [%]", 2], ["makespan_s", "end of the last kernel [s]", 1], ["peak_temp_c", "hottest [°C]", 1],
  ["mean_temp_c", "mean temperature [°C]", 1], ["throttled_s", "clocks stopped [s]", 1], ["sw_power_cap_s", "slowed by the power cap [s]", 1],
  ["sw_thermal_slowdown_s", "slowed by temperature [s]", 1], ["energy_j", "energy [kJ]", 2, 1e-3], ["fan_energy_j", "energy of fans [kJ]", 2, 1e-3], ["mean_inlet_c", "air [°C]", 1]];

function comparison() {
  const rows = COMPARED.filter(([key]) => runsGiven.some((r) => r.s[key])).map(([key, words, digits, factor = 1]) =>
    [words, ...runsGiven.map((r, i) => {
      if (r.s[key] === undefined || r.s[key] === null) return "–";
      const v = r.s[key] * factor, d = v - runsGiven[0].s[key] * factor;
      return fixed(v, digits) + (i && Math.abs(d) >= 0.5 * 10 ** -digits ? ` (${d > 0 ? "+" : "−"}${fixed(Math.abs(d), digits)})` : "");
    })]);
  return table({ title: "In brackets: the difference from the first", columns: ["", ...runsGiven.map((r) => r.name)], rows, plain: true });
}

// The hottest unit of each run over time, all on the same axes.
function together(runs) {
  const W = Math.max(320, Math.min(900, document.documentElement.clientWidth - 40)), H = 260, L = 46, B = 34, svg = makeSvg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "The hottest unit of each run over time" });
  // From the trace, least and most of the hottest SM in each sample: moments alone would show a switching throttle as a slow saw.
  const lines = runs.map((r) => (r.trace ? r.trace.time_ds.map((t, i) => [t / 10, r.trace.low_dc[i] / 10, r.trace.high_dc[i] / 10]).filter((p) => p[0] >= 0)
    : measured(r).map((f) => { const c = Math.max(...tempsAt(r, f)); return [r.time_s[f], c, c]; })));
  const end = Math.max(...lines.flat().map((p) => p[0])), limits = runs.map((r) => r.limit_c).filter((x) => x !== undefined);
  const all = [...lines.flat().flatMap((p) => p.slice(1)), ...limits], low = 5 * Math.floor(Math.min(...all) / 5), high = 5 * Math.ceil((Math.max(...all) + 1) / 5);
  const x = (t) => L + ((W - L - 8) * t) / (end || 1), y = (c) => H - B - ((H - B - 8) * (c - low)) / (high - low);
  const put = (tag, attributes, text = "") => { const e = makeSvg(tag, attributes); e.textContent = text; svg.append(e); };
  for (let c = low; c <= high; c += high - low > 40 ? 10 : 5) {
    put("line", { class: "grid", x1: L, x2: W - 8, y1: y(c), y2: y(c) });
    put("text", { x: L - 6, y: y(c) + 4, "text-anchor": "end" }, String(c));
  }
  const tic = [1, 2, 5].flatMap((m) => [0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5].map((k) => m * k)).sort((a, b) => a - b).find((s) => end / s <= 8) ?? (end || 1);
  for (let t = 0; t <= end * 1.0001; t += tic) put("text", { x: x(t), y: H - B + 16, "text-anchor": "middle" }, String(+t.toFixed(2)));
  put("text", { x: (L + W) / 2, y: H - 3, "text-anchor": "middle" }, "time (s)");
  for (const c of new Set(limits)) put("line", { class: "limit-line", x1: L, x2: W - 8, y1: y(c), y2: y(c) });
  const key = make("p", { class: "note" }), names = runs.map((r) => r.name), paints = paint(names);
  lines.forEach((line, i) => {
    const at = (k) => line.map((p) => `${x(p[0]).toFixed(1)},${y(p[k]).toFixed(1)}`);
    put("polygon", { fill: paints[i], "fill-opacity": 0.35, stroke: "none", points: [...at(1), ...at(2).reverse()].join(" ") });
    put("polyline", { fill: "none", stroke: paints[i], "stroke-width": 2, "stroke-dasharray": ["", "7 3", "2 3"][i % 3], points: at(2).join(" ") });
    const k = make("span", { class: "key" }), swatch = make("span", { class: "swatch", style: `background:${paints[i]}` });
    k.append(swatch, names[i]);
    key.append(k);
  });
  const box = make("figure", { class: "together" });
  box.append(svg, key, make("figcaption", {}, `Temperature of the hottest SM (°C) over the measured time; a band goes from the least to the highest of each sample.${limits.length ? " Red: the limit." : ""} A run whose line lies below another's is cooler at that moment.`));
  return box;
}

// ---- a hall ----------------------------------------------------------------

const SEEN = [["hottest [°C]", (g) => g.peak_temp_c, 1], ["air at the inlet [°C]", (g) => g.mean_inlet_c, 1], ["power [W]", (g) => g.mean_w, 0],
  ["slowed or stopped [s]", (g) => g.clock_stopped_s + ["sw_power_cap_s", "sw_thermal_slowdown_s", "hw_thermal_slowdown_s", "memory_limit_s", "shutdown_s"].reduce((a, k) => a + (g[k] ?? 0), 0), 1]];

// A name that is a number is of a log: GPU 5.
const called = (g) => (g.name && !/^\d+$/.test(g.name) ? g.name : `GPU ${g.name ?? g.gpu}`);

// Racks side by side, their nodes from the bottom, the GPUs of a node in a row; without racks 16 in a row.
function hall(s, of, gpus, pick) {
  const rackOf = (g) => g.rack || "GPUs", racks = [...new Set(gpus.map(rackOf))], node = (g) => (g.rack && g.name ? g.name.split(".").slice(0, -1).join(".") : null);
  const cells = [], marks = [];
  let x0 = 0, rows = 0;
  for (const rack of racks) {
    const inside = gpus.filter((g) => rackOf(g) === rack), nodes = [...new Set(inside.map(node))];
    const wide = Math.max(...nodes.map((n) => Math.min(16, inside.filter((g) => node(g) === n).length)));
    let y = 0;
    for (const n of nodes) {
      const here = inside.filter((g) => node(g) === n);
      here.forEach((g, i) => cells.push({ g, x: x0 + (i % wide), y: y + Math.floor(i / wide) }));
      y += Math.ceil(here.length / wide) + 0.25;
    }
    marks.push([rack, x0 + wide / 2]);
    x0 += wide + 1;
    rows = Math.max(rows, y);
  }
  const svg = makeSvg("svg", { viewBox: `0 0 ${x0 - 1} ${rows + 1.2}`, role: "group", "aria-label": `GPUs of ${of}` });
  const readout = make("p", { class: "readout", role: "status", "aria-live": "polite" }, "Point at a GPU; click to see its chip."), scale = scaleBar();
  const limit = data.runs.find((r) => r.of === of)?.limit_c;
  let what = 0;
  const text = (g) => `${called(g)}: ${SEEN.map(([words, value, digits]) => `${words.replace(/ \[(.*)\]/, "")} ${fixed(value(g), digits)} ${/\[(.*)\]/.exec(words)[1]}`).join(", ")}`;
  const rects = cells.map(({ g, x, y }) => {
    const rect = makeSvg("rect", { class: "block", x: x + 0.04, y: rows - y - 1, width: 0.92, height: 0.92, tabindex: "0", role: "button", "aria-label": text(g) });
    for (const kind of ["mouseenter", "focus"]) rect.addEventListener(kind, () => { readout.textContent = text(g); });
    for (const kind of ["click", "keydown"]) rect.addEventListener(kind, (e) => { if (kind === "click" || e.key === "Enter") pick?.(of, g.gpu); });
    svg.append(rect);
    return rect;
  });
  for (const [name, x] of marks) {
    const label = makeSvg("text", { x, y: rows + 0.9, "text-anchor": "middle", "font-size": Math.min(0.8, (1.6 * x0) / marks.length / Math.max(4, name.length)), fill: "currentColor" });
    label.textContent = name;
    svg.append(label);
  }
  const show = () => {
    const values = cells.map((c) => SEEN[what][1](c.g)), low = Math.min(...values), high = Math.max(...values), unit = /\[(.*)\]/.exec(SEEN[what][0])[1];
    scale.set(+low.toFixed(1), +high.toFixed(1), what === 0 ? limit : undefined, unit);
    rects.forEach((r, i) => r.setAttribute("fill", colour((values[i] - low) / (high - low || 1))));
  };
  const controls = make("div", { class: "controls" }), box = make("div", { class: "hall" });
  controls.append(choice("Show", SEEN.map((x) => x[0]), 0, (i) => { what = i; show(); }).box, make("span", { class: "note" }, of));
  box.append(svg);
  s.append(controls, scale.box, readout, box);
  show();
  const worst = gpus.slice().sort((a, b) => b.peak_temp_c - a.peak_temp_c).slice(0, 10);
  s.append(table({ title: "The ten hottest GPUs", columns: ["GPU", "rack", ...SEEN.map((x) => x[0])], rows: worst.map((g) => [called(g), g.rack ?? null, ...SEEN.map((x) => x[1](g))]) }));
}

// The sections above the heat maps; pick(of, gpu) opens a chip in the player.
function verdict(pick) {
  const others = [...data.findings, ...otherVerdicts()], halls = results.map((of) => [of, rowsOf(of, "gpus.csv")]).filter(([, g]) => g.length > 16 && g.some((x) => x.peak_temp_c !== null));
  if (runsGiven.length || others.length || data.warnings.length) {
    const s = section("verdict", "Verdict");
    for (const words of data.warnings) s.append(make("p", { class: "warning" }, `Warning: ${words}`));
    const mixes = new Set(runsGiven.map((r) => r.s.mix)), served = runsGiven.every((r) => r.s.requests_done !== undefined);
    const best = runsGiven.slice().sort((a, b) => (served ? b.s.tokens_per_s - a.s.tokens_per_s : a.s.slowdown_pct - b.s.slowdown_pct));
    if (runsGiven.length > 1 && mixes.size === 1 && served) {
      const [most, least] = [best[0], best.at(-1)];
      s.append(make("p", { class: "lead" }, `${most.name} serves most, ${fixed(most.s.tokens_per_s, 1)} tokens/s; ${least.name} least, ${fixed(least.s.tokens_per_s, 1)}.`));
    } else if (runsGiven.length > 1 && mixes.size === 1) {
      const [first, last] = [best[0], best.at(-1)];
      s.append(make("p", { class: "lead" }, first.s.slowdown_pct === last.s.slowdown_pct ? `All runs of ${first.s.mix} lose ${fixed(first.s.slowdown_pct)} % of their busy time.`
        : `Of ${many(runsGiven.length, "run")} of ${first.s.mix}, ${first.name} loses least (${fixed(first.s.slowdown_pct)} %), ${last.name} most (${fixed(last.s.slowdown_pct)} %).`));
    }
    for (const r of runsGiven) {
      const [lead, ...rest] = runVerdict(r), p = make("p", {});
      p.append(make("strong", {}, lead), " " + rest.join(" "));
      s.append(p);
    }
    for (const [of, words] of others) s.append(make("p", {}, `${of}: ${words}`));
  }
  if (runsGiven.length > 1) {
    const s = section("compare", "The runs compared"), drawn = runsGiven.map((r) => ({ ...data.runs.find((x) => x.of === r.of), name: r.name })).filter((r) => r.time_s);
    s.append(comparison());
    if (drawn.length > 1 && !halls.length) s.append(together(drawn));
  }
  halls.forEach(([of, gpus], i) => hall(section(`hall-${i}`, halls.length > 1 ? `Overview of ${of}` : "Overview"), of, gpus, pick));
}
