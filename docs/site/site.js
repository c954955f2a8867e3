/* SPDX-License-Identifier: GPL-3.0-or-later */
// The site of `./dev docs`: search without a network, light and dark, pages on a phone, captions of figures.

const root = document.documentElement;
document.getElementById("look").addEventListener("click", () => {
  const dark = root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.look = dark ? "light" : "dark";
  try { localStorage.look = root.dataset.look; } catch { /* a file without storage */ }
});
// A word of code is not broken unless it is long.
for (const code of document.querySelectorAll(":not(pre) > code")) {
  code.replaceChildren(...code.textContent.split(/( )/).map((word) => {
    const span = document.createElement("span");
    span.textContent = word;
    if (word.length < 25) span.style.whiteSpace = "nowrap";
    return span;
  }));
}
const menu = document.getElementById("menu");
menu.addEventListener("click", () => menu.setAttribute("aria-expanded", document.body.classList.toggle("open")));

// BOOK is mkdocs's index: sections with location, title and text. A section counts when it has all words.
const input = document.getElementById("search"), found = document.getElementById("found");
function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
  const hits = words.length ? BOOK.docs.map((d) => {
    const title = d.title.toLowerCase(), text = d.text.toLowerCase();
    const score = words.map((w) => (title.includes(w) ? 20 : 0) + Math.min(5, text.split(w).length - 1));
    return { d, score: score.includes(0) ? 0 : score.reduce((a, b) => a + b, 0) };
  }).filter((h) => h.score).sort((a, b) => b.score - a.score).slice(0, 12) : [];
  found.replaceChildren(...hits.map(({ d }) => {
    const li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
    const at = d.text.lastIndexOf(" ", d.text.toLowerCase().indexOf(words[0]) - 30) + 1, page = d.location.split("#")[0];
    const of = BOOK.docs.find((p) => p.location === page); // the page that the section is of
    a.href = `${ROOT}/${d.location}`;
    a.textContent = of && of !== d && !d.title.startsWith(of.title) ? `${of.title}: ${d.title}` : d.title;
    small.textContent = (at ? "… " : "") + d.text.slice(at, at + 120).replace(/\s\S*$/, " …");
    a.append(small);
    li.append(a);
    return li;
  }));
  if (words.length && !hits.length) found.textContent = "Nothing found.";
  found.hidden = !words.length;
}
input.addEventListener("input", search);
input.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && found.querySelector("a")) location.href = found.querySelector("a").href;
  if (e.key === "Escape") { input.value = ""; search(); }
});
document.querySelector(".search").addEventListener("keydown", (e) => { // arrows go through what was found
  const all = [input, ...found.querySelectorAll("a")], to = all[all.indexOf(document.activeElement) + { ArrowDown: 1, ArrowUp: -1 }[e.key]];
  if (to) { e.preventDefault(); to.focus(); }
});
addEventListener("keydown", (e) => { if (e.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); } });
document.addEventListener("click", (e) => { if (!e.target.closest(".search")) found.hidden = true; });

// A picture alone in its paragraph is a figure. Its caption is the paragraph behind it where that is in italics or a gallery's, else its name.
for (const img of document.querySelectorAll("main p > img:only-child")) {
  const p = img.parentElement, next = p.nextElementSibling;
  if (p.textContent.trim()) continue;
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  if (next?.tagName === "P" && (/gallery/.test(location.pathname) || (next.childNodes.length === 1 && next.firstChild.tagName === "EM"))) {
    caption.append(...next.childNodes);
    next.remove();
  } else {
    caption.textContent = img.alt;
  }
  p.replaceWith(figure);
  figure.append(img, caption);
}
