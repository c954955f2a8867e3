/* SPDX-License-Identifier: GPL-3.0-or-later */
"use strict";
// Builds the page from the JSON in #data: tables that sort, figures, and a player of heat maps.
// Shape of the data: docs/formats.md, section Report.

const data = JSON.parse(document.getElementById("data").textContent);
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
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t.title });
  const table = make("table");
  const head = make("tr");
  const body = make("tbody");
  const isText = t.columns.map((_, i) => t.rows.some((r) => typeof r[i] === "string"));
  table.append(make("caption", {}, t.title + ". A column's title sorts by it."));
  t.columns.forEach((name, i) => {
    const th = make("th", { scope: "col", "aria-sort": "none" });
    if (isText[i]) th.classList.add("text");
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

function colour(share) {
  const x = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(x));
  return `rgb(${STOPS[i].map((c, k) => Math.round(c + (x - i) * (STOPS[i + 1][k] - c))).join(",")})`;
}

// Times before 0 are the run's warm-up, which no table counts.
function clock(seconds) {
  return `${seconds.toFixed(1)} seconds${seconds < 0 ? " (warm-up)" : ""}`;
}

class HeatMap {
  constructor(run, low, high, readout) {
    this.run = run;
    this.low = low;
    this.high = high;
    this.readout = readout;
    this.frame = 0;
    this.active = null;
    const w = Math.max(...run.units.map((u) => u.x + u.w));
    const h = Math.max(...run.units.map((u) => u.y + u.h));
    this.element = make("div", { class: "map" });
    this.heading = make("h3");
    const svg = makeSvg("svg", { viewBox: `-0.2 -0.2 ${w + 0.4} ${h + 0.4}`, role: "group", "aria-label": `Heat map of ${run.name}` });
    this.blocks = run.units.map((u, i) => this.block(svg, u, i, h));
    this.element.append(this.heading, svg);
  }

  block(svg, u, i, h) {
    const rect = makeSvg("rect", { class: "block", x: u.x, y: h - u.y - u.h, width: u.w, height: u.h, tabindex: "-1", role: "img", "data-unit": u.name });
    for (const kind of ["mouseenter", "focus"]) rect.addEventListener(kind, () => this.read(i));
    rect.addEventListener("keydown", (e) => this.step(e, i));
    if (i === 0) rect.setAttribute("tabindex", "0");
    svg.append(rect);
    const size = Math.min(0.9, 0.8 * u.h, (1.25 * u.w) / u.name.length);
    const label = makeSvg("text", { x: u.x + u.w / 2, y: h - u.y - u.h / 2, "font-size": size, "aria-hidden": "true" });
    if (size > 0.3) label.textContent = u.name;
    svg.append(label);
    return { rect, label };
  }

  // Arrow keys go from block to block.
  step(event, i) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const n = this.blocks.length;
    const next = this.blocks[(i + by + n) % n].rect;
    this.blocks[i].rect.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  text(i) {
    const n = this.run.units.length;
    const at = this.frame * n + i;
    return `${this.run.units[i].name}: ${(this.run.temp_dc[at] / 10).toFixed(1)} °C, ${(this.run.power_cw[at] / 100).toFixed(2)} W`;
  }

  read(i) {
    this.active = i;
    this.readout.textContent = `${this.run.name}, ${this.text(i)}`;
  }

  show(frame) {
    this.frame = Math.min(frame, this.run.time_s.length - 1);
    const n = this.run.units.length;
    let hottest = 0;
    for (let i = 0; i < n; i++) {
      const t = this.run.temp_dc[this.frame * n + i] / 10;
      if (t > this.run.temp_dc[this.frame * n + hottest] / 10) hottest = i;
      const share = (t - this.low) / (this.high - this.low);
      this.blocks[i].rect.setAttribute("fill", colour(share));
      this.blocks[i].rect.setAttribute("aria-label", this.text(i));
      this.blocks[i].label.setAttribute("fill", share < 0.55 ? "#fff" : "#000");
    }
    this.heading.textContent = `${this.run.name} at ${clock(this.run.time_s[this.frame])}: hottest ${this.text(hottest)}`;
    if (this.active !== null) this.read(this.active);
  }
}

function choice(label, runs, selected) {
  const box = make("label", {}, label + " ");
  const select = make("select");
  runs.forEach((r, i) => select.append(make("option", i === selected ? { value: i, selected: "" } : { value: i }, r.name)));
  box.append(select);
  return { box, select };
}

function player(s, runs) {
  const all = runs.flatMap((r) => [Math.min(...r.temp_dc) / 10, Math.max(...r.temp_dc) / 10]);
  const low = Math.floor(Math.min(...all));
  const high = Math.ceil(Math.max(...all));
  const readout = make("p", { class: "readout", id: "readout", role: "status", "aria-live": "polite" }, "Point at a block, or go to it with Tab and the arrow keys.");
  const slider = make("input", { type: "range", id: "time", min: "0", value: "0", step: "1", "aria-label": "Time" });
  const play = make("button", { type: "button", id: "play" }, "Play");
  const left = choice("Left", runs, 0);
  const right = choice("Right", runs, Math.min(1, runs.length - 1));
  const maps = make("div", { class: "maps" });
  let shownMaps = [];
  let timer = null;

  const frame = () => Number(slider.value);
  const update = () => {
    shownMaps.forEach((m) => m.show(frame()));
    slider.setAttribute("aria-valuetext", clock(shownMaps[0].run.time_s[Math.min(frame(), shownMaps[0].run.time_s.length - 1)]));
  };
  const rebuild = () => {
    const picked = runs.length > 1 ? [runs[left.select.value], runs[right.select.value]] : [runs[0]];
    shownMaps = picked.map((r) => new HeatMap(r, low, high, readout));
    slider.max = Math.max(...picked.map((r) => r.time_s.length)) - 1;
    maps.replaceChildren(...shownMaps.map((m) => m.element));
    update();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (frame() >= Number(slider.max)) slider.value = 0;
    play.textContent = "Pause";
    timer = setInterval(() => {
      slider.value = frame() + 1;
      update();
      if (frame() >= Number(slider.max)) stop();
    }, 100);
  });
  slider.addEventListener("input", update);
  left.select.addEventListener("change", rebuild);
  right.select.addEventListener("change", rebuild);

  const controls = make("div", { class: "controls" });
  controls.append(play, slider);
  if (runs.length > 1) controls.append(left.box, right.box);
  const scale = make("div", { class: "scale", "aria-label": `Colour scale from ${low} to ${high} degrees Celsius` });
  scale.append(make("span", {}, `${low} °C`), make("div", { class: "bar" }), make("span", {}, `${high} °C`));
  s.append(controls, scale, readout, maps, make("p", { class: "note" }, data.sampling));
  rebuild();
}

// ---- the page --------------------------------------------------------------

document.title = data.title;
document.getElementById("title").textContent = data.title;
document.getElementById("made").textContent = data.made;
if (data.runs.length) player(section("heat", "Heat map over time"), data.runs);
if (data.tables.length) {
  const s = section("tables", "Tables");
  data.tables.forEach((t) => s.append(table(t)));
}
if (data.figures.length) {
  const s = section("figures", "Figures");
  const box = make("div", { class: "figures" });
  data.figures.forEach((f) => {
    const figure = make("figure", { role: "group", "aria-label": f.name });
    figure.append(make("img", { src: "data:image/svg+xml;base64," + f.svg, alt: "Figure: " + f.name.replaceAll("_", " "), style: "max-width:100%" }));
    figure.append(make("figcaption", {}, f.name.replaceAll("_", " ")));
    box.append(figure);
  });
  s.append(box);
}
