/* SPDX-License-Identifier: GPL-3.0-or-later */
// A study's runs in a plot whose axes the reader chooses.

// The colours of a figure's names, as plots/scripts/paint.gp has them: the table's; else the one its letters choose, or the next that is free.
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.()=, ";
function paint(names) {
  const other = (k) => data.colours[`other${1 + (k % 12)}`], listed = (name) => Object.hasOwn(data.colours, name) && data.colours[name];
  const taken = new Set(names.map(listed));
  return names.map((name) => {
    if (listed(name)) return listed(name);
    const at = [...name].reduce((sum, c, i) => sum + (i + 1) * (LETTERS.indexOf(c) + 1), 0) % 6;
    const free = [...Array(12).keys()].map((k) => other(at + k)).find((c) => !taken.has(c)) || other(at);
    taken.add(free);
    return free;
  });
}
const SIZE = { w: 640, h: 380, left: 70, right: 20, top: 16, bottom: 56 };
const fit = () => { SIZE.w = Math.max(320, Math.min(640, document.documentElement.clientWidth - 24)); }; // letters keep their size on a phone

// Round steps of an axis, about five of them.
function ticks(low, high) {
  const raw = (high - low || 1) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= raw);
  const from = Math.ceil(low / step - 1e-9), to = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, to - from) + 1 }, (_, i) => +((from + i) * step).toPrecision(12));
}

// Where values of an axis stand: numbers by value, texts beside one another.
function axis(values, from, to) {
  const known = values.filter((v) => v !== null), isText = known.some((v) => typeof v === "string");
  const names = [...new Set(known)].sort(compare);
  const low = isText ? -0.5 : Math.min(...known), high = isText ? names.length - 0.5 : Math.max(...known);
  const pad = isText || high > low ? 0 : Math.abs(high) / 10 || 1;
  const of = (v) => from + (((isText ? names.indexOf(v) : v) - low + pad) / (high - low + 2 * pad)) * (to - from);
  return { isText, of, ticks: isText ? names : ticks(low - pad, high + pad) };
}

// Runs that differ by seeds alone are repetitions of one point.
const isSeed = (name) => name === "seed" || name.endsWith(".seed");
// Student's t, 0.975, of 1 to 30 degrees of freedom; beyond them its expansion about the normal quantile.
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074,
  2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
// Mean, half its 95 % interval (0 of a single value), n.
function moments(values) {
  const n = values.length, mean = values.reduce((sum, v) => sum + v, 0) / n;
  const sd = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1));
  const t = n < 32 ? T95[n - 2] : 1.959964 + 2.3722 / (n - 1) + 2.82 / (n - 1) ** 2;
  return { mean, n, half: n > 1 ? (t * sd) / Math.sqrt(n) : 0 };
}

function study(s, t) {
  const { columns, axes, rows } = t, varied = (i) => new Set(rows.map((r) => r[i])).size > 1;
  const isNumber = (i) => rows.some((r) => typeof r[i] === "number") && !rows.some((r) => typeof r[i] === "string");
  const xs = columns.map((_, i) => i).filter((i) => varied(i) && (i < axes || isNumber(i)));
  const ys = columns.map((_, i) => i).filter((i) => i >= axes && isNumber(i) && varied(i));
  const bys = [-1, ...columns.map((_, i) => i).filter((i) => i < axes && varied(i))];
  if (!xs.length || !ys.length) return;
  const prefer = (list, name) => Math.max(0, list.findIndex((i) => columns[i] === name));
  const first = xs.find((i) => i < axes && isNumber(i) && !isSeed(columns[i])) ?? xs.find((i) => !isSeed(columns[i])) ?? xs[0]; // a number, if one was swept
  const texts = bys.findIndex((i) => i >= 0 && !isNumber(i) && !isSeed(columns[i]) && i !== first);
  const state = { x: first, y: ys[prefer(ys, "slowdown_pct")], by: texts > 0 ? bys[texts] : -1 };
  const chart = make("figure", { class: "study" }), controls = make("div", { class: "controls" });
  const draw = () => { fit(); chart.replaceChildren(...plot(t, state)); };
  addEventListener("resize", draw);
  const pick = (text, key, list) => choice(text, list.map((i) => (i < 0 ? "nothing" : columns[i])), list.indexOf(state[key]), (i) => { state[key] = list[i]; draw(); });
  const picks = { x: pick("Across", "x", xs), y: pick("Up", "y", ys), by: pick("A curve for each", "by", bys) };
  for (const [key, p] of Object.entries(picks)) {
    p.select.dataset.axis = key;
    controls.append(p.box);
  }
  s.append(make("h3", {}, t.title), controls, chart);
  draw();
}

function plot(t, { x, y, by }) {
  const rows = t.rows.filter((r) => r[x] !== null && r[y] !== null);
  const groups = [...new Set(rows.map((r) => (by < 0 ? "all" : r[by])))].sort(compare);
  const others = t.columns.slice(0, t.axes).filter((c, k) => k !== x && k !== by && new Set(rows.map((r) => r[k])).size > 1); // the means are over these
  const repeated = x < t.axes && others.length > 0 && others.every(isSeed);
  const points = groups.map((g) => {
    const mine = rows.filter((r) => by < 0 || r[by] === g), places = [...new Set(mine.map((r) => r[x]))].sort(compare);
    return { mine, at: places.map((v) => ({ v, ...moments(mine.filter((r) => r[x] === v).map((r) => r[y])) })) };
  });
  const ends = repeated ? points.flatMap((p) => p.at.flatMap((m) => [m.mean - m.half, m.mean + m.half])) : [];
  const ax = axis(rows.map((r) => r[x]), SIZE.left, SIZE.w - SIZE.right), ay = axis([...rows.map((r) => r[y]), ...ends], SIZE.h - SIZE.bottom, SIZE.top);
  const name = `${t.columns[y]} against ${t.columns[x]}${by < 0 ? "" : ", by " + t.columns[by]}`;
  const svg = makeSvg("svg", { viewBox: `0 0 ${SIZE.w} ${SIZE.h}`, role: "img", "aria-label": name });
  const text = (at, words, more = {}) => { const e = makeSvg("text", { ...at, ...more }); e.textContent = words; svg.append(e); };
  for (const v of ay.ticks) {
    svg.append(makeSvg("line", { class: "grid", x1: SIZE.left, x2: SIZE.w - SIZE.right, y1: ay.of(v), y2: ay.of(v) }));
    text({ x: SIZE.left - 8, y: ay.of(v) + 4 }, v, { "text-anchor": "end" });
  }
  for (const v of ax.ticks) text({ x: ax.of(v), y: SIZE.h - SIZE.bottom + 20 }, v, { "text-anchor": "middle" });
  text({ x: (SIZE.left + SIZE.w) / 2, y: SIZE.h - 10 }, t.columns[x], { "text-anchor": "middle" });
  text({ x: 0, y: 0 }, t.columns[y], { "text-anchor": "middle", transform: `translate(16 ${SIZE.h / 2}) rotate(-90)` });
  const legend = make("figcaption");
  const paints = by < 0 ? [data.colours.A] : paint(groups.map(String));
  groups.forEach((g, i) => {
    const { mine, at } = points[i], colour = paints[i];
    const aside = repeated && ax.isText ? 12 * (i - (groups.length - 1) / 2) : 0; // curves beside one another
    if (!ax.isText && x < t.axes && at.length > 1 && (at.length < mine.length || at.length <= 12)) {
      svg.append(makeSvg("polyline", { fill: "none", stroke: colour, "stroke-width": 2, points: at.map((m) => `${ax.of(m.v)},${ay.of(m.mean)}`).join(" ") }));
    }
    for (const m of repeated ? at : []) {
      const note = makeSvg("title", {}), cx = ax.of(m.v) + aside, low = ay.of(m.mean - m.half), high = ay.of(m.mean + m.half);
      const mark = makeSvg("path", { class: "interval", stroke: colour, "stroke-width": 2, fill: "none", d: `M${cx} ${low}V${high}M${cx - 5} ${low}h10M${cx - 5} ${high}h10` });
      note.textContent = `${shown(m.mean)} ± ${shown(m.half)}, n = ${m.n}`;
      mark.append(note);
      svg.append(mark, makeSvg("circle", { cx, cy: ay.of(m.mean), r: 4, fill: colour }));
    }
    for (const r of mine) {
      const dot = makeSvg("circle", { cx: ax.of(r[x]) + aside, cy: ay.of(r[y]), r: repeated ? 2 : 4, fill: colour, opacity: repeated ? 0.45 : 1 });
      const note = makeSvg("title", {});
      note.textContent = t.columns.slice(0, t.axes).map((c, k) => `${c} = ${r[k]}`).join(", ") + `: ${t.columns[y]} = ${shown(r[y])}`;
      dot.append(note);
      svg.append(dot);
    }
    const key = make("span", { class: "key" }, String(g)), swatch = make("span", { class: "swatch", style: `background:${colour}` });
    key.prepend(swatch);
    if (by >= 0) legend.append(key);
  });
  const counts = points.flatMap((p) => p.at.map((m) => m.n)), least = Math.min(...counts), most = Math.max(...counts);
  const over = least === most ? `n = ${least}` : `n = ${least} to ${most}`;
  const what = repeated ? ` Means over ${others.join(", ")} (${over}), with the 95 % interval of the mean; small dots are runs.`
    : others.length && x < t.axes ? ` A point is a run, a line joins means over ${others.join(", ")} (${over}).` : " A point is a run, a line joins them.";
  legend.append(make("span", {}, `${name}.${what}`));
  return [svg, legend];
}
