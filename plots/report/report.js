/* SPDX-License-Identifier: GPL-3.0-or-later */
// Builds the page from the JSON in #data: tables that sort, heat maps, and their player.
// Shape of the data: docs/formats.md, section Report.

const data = JSON.parse(document.getElementById("data").textContent);
for (const r of data.runs) r.units = data.plans[r.plan];
const main = document.getElementById("main");
const nav = document.querySelector("nav");
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, text = "") {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text) e.textContent = text;
  return e;
}

function makeSvg(tag, attributes) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
}

function button(text, pressed, attributes = {}) {
  const b = make("button", { type: "button", ...attributes }, text);
  b.addEventListener("click", pressed);
  return b;
}

function labelled(text, control) {
  const box = make("label", {}, text + " ");
  box.append(control);
  return box;
}

// A select of the texts; chosen(index).
function choice(text, names, selected, chosen) {
  const select = make("select");
  names.forEach((name, i) => select.append(make("option", { value: i }, name)));
  select.value = selected;
  select.addEventListener("change", () => chosen(Number(select.value)));
  return { box: labelled(text, select), select };
}

function section(id, title) {
  const s = make("section", { id, "aria-labelledby": id + "-title" });
  s.append(make("h2", { id: id + "-title" }, title));
  main.append(s);
  nav.append(make("a", { href: "#" + id }, title));
  return s;
}

// ---- tables ----------------------------------------------------------------

function shown(v) {
  if (v === null) return "–";
  if (typeof v !== "number") return String(v);
  if (Math.abs(v) < 5e-5) v = 0;
  return Number.isInteger(v) ? String(v) : Math.abs(v) >= 1000 ? v.toFixed(0) : v.toFixed(Math.abs(v) < 1 ? 4 : 2);
}

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function fill(body, rows, isText) {
  body.replaceChildren(...rows.map((row) => {
    const tr = make("tr");
    row.forEach((v, i) => tr.append(make("td", isText[i] ? { class: "text" } : {}, shown(v))));
    return tr;
  }));
}

function table(t) {
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": (t.of && t.of !== t.title ? `${t.of}: ` : "") + t.title });
  const table = make("table");
  const head = make("tr");
  const body = make("tbody");
  const isText = t.columns.map((_, i) => t.rows.some((r) => typeof r[i] === "string"));
  const caption = make("caption", {}, (t.of && t.of !== t.title ? `${t.of}: ` : "") + t.title + ".");
  if (!t.plain) caption.append(make("span", { class: "screen" }, " A column's title sorts by it."));
  table.append(caption);
  t.columns.forEach((name, i) => {
    const th = make("th", { scope: "col", "aria-sort": "none" });
    if (isText[i]) th.classList.add("text");
    if (t.plain) {
      th.textContent = name;
      th.removeAttribute("aria-sort");
      head.append(th);
      return;
    }
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      for (const other of head.children) other.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill(body, t.rows.slice().sort((a, b) => (up ? 1 : -1) * compare(a[i], b[i])), isText);
    });
    th.append(button);
    head.append(th);
  });
  const thead = make("thead");
  thead.append(head);
  table.append(thead, body);
  fill(body, t.rows, isText);
  box.append(table);
  return box;
}

// ---- heat maps -------------------------------------------------------------

// cividis-like: even in brightness, told apart by colour-blind readers; as in plots/scripts/style.gp.
const STOPS = [[0, 34, 78], [29, 63, 111], [87, 93, 109], [124, 123, 120], [166, 157, 117], [211, 193, 100], [254, 232, 56]];
const DARK = 0.47; // labels are white up to this share of the scale: 4.5 to 1 on either side

function colour(share) {
  const x = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(x));
  return `rgb(${STOPS[i].map((c, k) => Math.round(c + (x - i) * (STOPS[i + 1][k] - c))).join(",")})`;
}

function hottestOf(temps) {
  return temps.reduce((best, t, i) => (t > temps[best] ? i : best), 0);
}

// Colours, their ends in words, and a mark at the limit.
function scaleBar() {
  const low = make("span"), high = make("span"), bar = make("div", { class: "bar" }), mark = make("div", { class: "limit" }), says = make("span");
  const box = make("div", { class: "scale", role: "img" });
  mark.append(says);
  bar.append(mark);
  box.append(low, bar, high);
  const set = (from, to, limit, unit = "°C") => {
    const inside = limit !== undefined && limit > from && limit < to;
    low.textContent = `${from} ${unit}`;
    high.textContent = `${to} ${unit}`;
    mark.hidden = !inside;
    mark.style.left = `${(100 * (limit - from)) / (to - from)}%`;
    says.textContent = inside ? `limit ${limit}` : "";
    box.setAttribute("aria-label", `Colour scale from ${from} to ${to} ${unit}${inside ? `, the limit at ${limit}` : ""}`);
  };
  return { box, set };
}

// One scale for the player and the what-if: a colour means one temperature on the whole page.
const SCALE = (() => {
  const temps = data.runs.flatMap((r) => measured(r).flatMap((f) => { const t = tempsAt(r, f); return [Math.min(...t), Math.max(...t)]; }));
  const limit = data.runs.find((r) => r.limit_c !== undefined)?.limit_c, five = (t, up) => 5 * (up ? Math.ceil(t / 5) : Math.floor(t / 5));
  const most = temps.reduce((a, b) => Math.max(a, b), limit ?? -Infinity), least = temps.reduce((a, b) => Math.min(a, b), Infinity);
  return { low: five(least - 1, false), high: five(most + 1, true), limit };
})();

// The blocks of a chip in the colours of their temperatures. read(i): a block was pointed at.
class ChipMap {
  constructor(units, name, read) {
    this.units = units;
    this.read = read;
    const w = Math.max(...units.map((u) => u.x + u.w)), h = Math.max(...units.map((u) => u.y + u.h));
    this.element = make("div", { class: "map" });
    this.heading = make("h3");
    this.svg = makeSvg("svg", { viewBox: `-0.2 -0.2 ${w + 0.4} ${h + 0.4}`, role: "group", "aria-label": `Heat map of ${name}` });
    this.blocks = units.map((u, i) => this.block(u, i, h));
    this.mark = makeSvg("rect", { class: "hottest" });
    this.svg.append(this.mark);
    this.element.append(this.heading, this.svg);
  }

  block(u, i, h) {
    const at = { x: u.x, y: h - u.y - u.h, width: u.w, height: u.h };
    const rect = makeSvg("rect", { class: "block", ...at, tabindex: i === 0 ? "0" : "-1", role: "img", "data-unit": u.name });
    for (const kind of ["mouseenter", "focus"]) rect.addEventListener(kind, () => this.read(i));
    rect.addEventListener("keydown", (e) => this.go(e, i));
    const size = Math.min(0.9, 0.8 * u.h, (1.1 * u.w) / u.name.length);
    const label = makeSvg("text", { x: u.x + u.w / 2, y: h - u.y - u.h / 2, "font-size": size, "aria-hidden": "true" });
    if (size > 0.3) label.textContent = u.name;
    this.svg.append(rect, label);
    return { rect, label, at };
  }

  // Arrow keys go to the nearest block on that side.
  go(event, i) {
    const side = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!side) return;
    event.preventDefault();
    const middle = (u) => [u.x + u.w / 2, u.y + u.h / 2];
    const [x, y] = middle(this.units[i]);
    let best = i, least = Infinity;
    this.units.forEach((u, j) => {
      const [dx, dy] = [middle(u)[0] - x, middle(u)[1] - y];
      const ahead = dx * side[0] + dy * side[1], aside = Math.abs(dx * side[1]) + Math.abs(dy * side[0]);
      if (j !== i && ahead > 1e-6 && ahead + 3 * aside < least) [best, least] = [j, ahead + 3 * aside];
    });
    this.blocks[i].rect.setAttribute("tabindex", "-1");
    this.blocks[best].rect.setAttribute("tabindex", "0");
    this.blocks[best].rect.focus();
  }

  // temps in degC; text(i): what a block says of itself.
  show(temps, low, high, text) {
    temps.forEach((t, i) => {
      const share = (t - low) / (high - low);
      this.blocks[i].rect.setAttribute("fill", colour(share));
      this.blocks[i].rect.setAttribute("aria-label", text(i));
      this.blocks[i].label.setAttribute("fill", share < DARK ? "#fff" : "#000");
    });
    for (const [key, value] of Object.entries(this.blocks[hottestOf(temps)].at)) this.mark.setAttribute(key, value);
  }
}

// ---- the player ------------------------------------------------------------

// Times before 0 are the run's warm-up, which no table counts.
function clock(seconds) {
  return `${seconds.toFixed(1)} seconds${seconds < 0 ? " (warm-up)" : ""}`;
}

function title(run) {
  return `${run.name} (${run.of})`;
}

// The frames of the measured time; of a run that ended in its warm-up, all.
function measured(run) {
  const frames = run.time_s.map((_, f) => f).filter((f) => run.time_s[f] >= 0);
  return frames.length ? frames : run.time_s.map((_, f) => f);
}

// The run's frame at a time: the last one that is not later.
function frameAt(run, time_s) {
  let f = 0;
  while (f + 1 < run.time_s.length && run.time_s[f + 1] <= time_s + 1e-9) f++;
  return f;
}

function tempsAt(run, frame) {
  const n = run.units.length;
  return run.temp_dc.slice(frame * n, (frame + 1) * n).map((t) => t / 10);
}

function powersAt(run, frame) {
  const n = run.units.length;
  return run.power_cw.slice(frame * n, (frame + 1) * n).map((p) => p / 100);
}

function player(s, runs) {
  const { low, high, limit } = SCALE;
  const interval = runs.reduce((a, r) => r.time_s.slice(1).reduce((b, t, i) => Math.min(b, t - r.time_s[i]), a), 1e9);
  const readout = make("p", { class: "readout", id: "readout", role: "status", "aria-live": "polite" }, "Point at a block, or go to it with Tab and the arrow keys.");
  const slider = make("input", { type: "range", id: "time", step: interval, "aria-label": "Time" });
  const maps = make("div", { class: "maps" });
  let shown = [], timer = null;

  const text = (m, i) => `${m.run.units[i].name}: ${m.temps[i].toFixed(1)} °C, ${m.powers[i].toFixed(2)} W`;
  const say = (m) => { if (m.active !== null) readout.textContent = `${title(m.run)}, ${text(m, m.active)}`; };
  const update = () => {
    const time_s = Number(slider.value);
    for (const m of shown) {
      const f = frameAt(m.run, time_s);
      m.temps = tempsAt(m.run, f);
      m.powers = powersAt(m.run, f);
      m.map.show(m.temps, low, high, (i) => text(m, i));
      m.map.heading.textContent = `${title(m.run)} at ${clock(m.run.time_s[f])}: hottest ${text(m, hottestOf(m.temps))}`;
      say(m);
    }
    slider.setAttribute("aria-valuetext", clock(time_s));
  };
  const open = (time_s) => { slider.value = time_s; update(); };
  const hottest = () => {
    const peaks = shown.map((m) => Math.max(...tempsAt(m.run, frameAt(m.run, m.run.hottest_s))));
    open(shown[hottestOf(peaks)].run.hottest_s);
  };
  const rebuild = () => {
    const picked = runs.length > 1 ? [runs[left.select.value], runs[right.select.value]] : [runs[0]];
    shown = picked.map((run) => {
      const m = { run, active: null };
      m.map = new ChipMap(run.units, title(run), (i) => { m.active = i; say(m); });
      return m;
    });
    slider.min = Math.min(...picked.map((r) => r.time_s[0]));
    slider.max = Math.max(...picked.map((r) => r.time_s[r.time_s.length - 1]));
    maps.replaceChildren(...shown.map((m) => m.map.element));
    hottest();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const play = button("Play", () => {
    if (timer) return stop();
    if (Number(slider.value) >= Number(slider.max)) slider.value = slider.min;
    play.textContent = "Pause";
    timer = setInterval(() => {
      open(Number(slider.value) + Number(slider.step));
      if (Number(slider.value) + Number(slider.step) > Number(slider.max)) stop();
    }, 100);
  }, { id: "play" });
  slider.addEventListener("input", update);

  const names = runs.map(title);
  const peaks = runs.map((r) => r.temp_dc.reduce((a, b) => Math.max(a, b), -Infinity)), many = runs.length > 16; // of many GPUs the hottest two
  const order = runs.map((_, i) => i).sort((a, b) => (many ? peaks[b] - peaks[a] || a - b : a - b));
  const left = choice("Left", names, order[0], rebuild), right = choice("Right", names, order[Math.min(1, runs.length - 1)], rebuild);
  const controls = make("div", { class: "controls" }), scale = scaleBar();
  scale.set(low, high, limit);
  controls.append(play, slider, button("Hottest moment", hottest));
  if (runs.length > 1) controls.append(left.box, right.box);
  s.append(controls, scale.box, readout, maps, make("p", { class: "note" },
    "A colour means the same temperature in all maps of this page; the hottest block has the bold frame. Colours span the measured time, after the warm-up. " + data.sampling));
  rebuild();
  const pick = (of, gpu) => {
    const i = runs.findIndex((r) => r.of === of && r.gpu === gpu);
    if (i < 0) return;
    left.select.value = i;
    rebuild();
    s.scrollIntoView();
  };
  return { time: () => Number(slider.value), pick };
}
