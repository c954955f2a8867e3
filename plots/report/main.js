/* SPDX-License-Identifier: GPL-3.0-or-later */
// Puts the page together.

function figures(s, all) {
  const box = make("div", { class: "figures" });
  for (const f of all) {
    const what = f.name.replaceAll("_", " "), figure = make("figure", { role: "group", "aria-label": `${what} of ${f.of}` });
    figure.append(make("img", { src: "data:image/svg+xml;base64," + f.svg, alt: `Figure: ${what} of ${f.of}` }));
    figure.append(make("figcaption", {}, `${what}, of ${f.of}. ${f.caption}`));
    box.append(figure);
  }
  s.append(box);
}

document.title = data.title;
document.getElementById("title").textContent = data.title;
document.getElementById("made").textContent = data.made;
let shownTime = null;
verdict(data.runs.length ? (of, gpu) => shownTime.pick(of, gpu) : null);
const studies = data.tables.filter((t) => t.axes > 0);
const live = data.runs.filter((r) => r.model !== undefined);
if (data.runs.length) shownTime = player(section("heat", "Heat map over time"), data.runs);
const whatIf = live.length ? new WhatIf(section("what-if", "What if?"), live, shownTime) : null;
if (studies.length) {
  const s = section("studies", "Studies");
  studies.forEach((t) => study(s, t));
}
if (data.tables.length) {
  const s = section("tables", "Tables");
  data.tables.forEach((t) => s.append(table(t)));
}
if (data.figures.length) figures(section("figures", "Figures"), data.figures);
