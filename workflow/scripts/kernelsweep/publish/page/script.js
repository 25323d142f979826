"use strict";

// Tables sort by a click on a heading: upwards, downwards, and back to the order that the table tells its story in.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
// Of units that cells of one column may mix.
const FACTORS = { ns: 1e-3, µs: 1, us: 1, ms: 1e3, s: 1e6, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const MISSING = ["", "–", "-", "—"];

// A cell's text without its footnotes' marks.
function cellText(row, column) {
  const nodes = [...(row.cells[column]?.childNodes ?? [])];
  return nodes.filter((node) => node.nodeName !== "SUP").map((node) => node.textContent).join("").trim();
}

// The number that a text begins with, such as 2^24, 2²⁰+3, 1,048,576, 8.79×, 25.36–25.55 or 88 of 88; else NaN.
function numberOf(text) {
  const plain = text.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]+/, (digits) => "^" + [...digits].map((c) => SUPERSCRIPTS.indexOf(c)).join(""));
  const power = plain.match(/^(\d+)\^(\d+)(?:\s*([+−-])\s*(\d+))?/);
  if (power) {
    const [, base, exponent, sign, offset] = power;
    return base ** exponent + (sign === "+" ? 1 : -1) * (offset ?? 0);
  }
  const found = plain.match(/^[<>≤≥~]?\s*([+−-]?(?:[\d,]*\.)?[\d,]+(?:e[+-]?\d+)?)\s*([a-zµ]*)/i);
  if (!found) return NaN;
  return Number(found[1].replaceAll(",", "").replace("−", "-")) * (FACTORS[found[2]] ?? 1);
}

function sorted(rows, column, direction) {
  const texts = new Map(rows.map((row) => [row, cellText(row, column)]));
  const present = rows.filter((row) => !MISSING.includes(texts.get(row)));
  const numbers = new Map(present.map((row) => [row, numberOf(texts.get(row))]));
  const numeric = present.filter((row) => !Number.isNaN(numbers.get(row)));
  // A column of numbers may have a word where there is none, such as a status: those come last, as what is missing does.
  const first = numeric.length * 2 > present.length ? numeric : present;
  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) =>
    first === numeric ? numbers.get(a) - numbers.get(b) : collator.compare(texts.get(a), texts.get(b));
  const last = rows.filter((row) => !first.includes(row));
  return [...[...first].sort((a, b) => direction * compare(a, b)), ...last];
}

// Several links or buttons are one stop of the tab key; arrows go from one to the next.
function rove(stops) {
  stops.forEach((stop, place) => {
    stop.tabIndex = place ? -1 : 0;
    stop.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !stops[place + step]) return;
      event.preventDefault();
      stops[place + step].focus();
    });
  });
}

for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (table.closest("#chapter-claims") && [...table.tHead.rows[0].cells].some((head) => head.textContent === "claim")) {
    // On a phone, a claim is a card, with the words of the head beside each number.
    table.classList.add("cards");
    for (const row of body.rows) [...row.cells].slice(1).forEach((cell, column) => { cell.dataset.head = table.tHead.rows[0].cells[column + 1].textContent; });
  }
  // Rows of the answer belong to a study, and studies do different work.
  if (!body || body.rows.length < 2 || table.matches(".answer")) continue;
  const told = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.scope = "col";
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" }[heading.getAttribute("aria-sort")] ?? "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) heading.setAttribute("aria-sort", next);
      body.append(...(next ? sorted(told, column, next === "ascending" ? 1 : -1) : told));
    });
  });
}

for (const group of document.querySelectorAll("nav, figure, section > p.files, .panels, table thead"))
  rove([...group.querySelectorAll(group.tagName === "THEAD" ? "button" : "a")]);

// Only what scrolls has to be reached to be scrolled.
const scrolling = document.querySelectorAll(".table, .drawing");
new ResizeObserver(() => scrolling.forEach((box) => { box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; })).observe(document.body);

// On a phone, each of several studies is its heading and its finding; the rest unfolds.
if (matchMedia("(max-width: 30rem)").matches && document.querySelectorAll("section[id^=study-]").length > 1) {
  for (const part of document.querySelectorAll("section:is([id^=study-], [id^=chapter-])")) {
    const fold = document.createElement("details"), summary = document.createElement("summary");
    fold.className = "study";
    summary.append(...part.querySelectorAll(":scope > h2, :scope > .finding"));
    fold.append(summary, ...part.childNodes);
    part.append(fold);
  }
  const unfold = () => document.getElementById(location.hash.slice(1))?.closest("section")?.querySelector(":scope > .study")?.setAttribute("open", "");
  addEventListener("hashchange", unfold);
  unfold();
}

// Figures open large. Without this script their links lead to the SVG files.

const dialog = document.getElementById("large");
const room = dialog.querySelector(".scroll");

for (const link of document.querySelectorAll("a.enlarge")) {
  link.addEventListener("click", (event) => {
    // A link in a figure leads on, as from a mark to its claim.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("svg a")) return;
    event.preventDefault();
    const small = link.firstElementChild;
    dialog.setAttribute("aria-label", small.getAttribute("aria-label"));
    room.replaceChildren(small.cloneNode(true));
    dialog.showModal();
  });
}
room.addEventListener("click", (event) => {
  if (event.target === room || event.target.closest("svg a")) dialog.close();
});
dialog.addEventListener("close", () => room.replaceChildren());

// The contents mark the first section whose heading is in the upper half of the window, else the one that goes on there.

const nav = document.querySelector("nav");
const contents = new Map([...document.querySelectorAll('nav a[href^="#"]')].map((link) => [document.querySelector(link.hash), link]));

function markRead() {
  const bar = matchMedia("(max-width: 70rem)").matches ? nav?.getBoundingClientRect().bottom : 0;
  const begun = [...contents.keys()].filter((section) => section.getBoundingClientRect().top < innerHeight / 2);
  const link = contents.get(begun.find((section) => section.querySelector("h2").getBoundingClientRect().bottom > bar) ?? begun.at(-1));
  if (!link || link.hasAttribute("aria-current")) return;
  nav.querySelector("[aria-current]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  nav.scrollLeft = link.offsetLeft - innerWidth / 2;
}

addEventListener("scroll", markRead, { passive: true });
// The explorer, or what unfolds, pushes sections down without a scroll.
new ResizeObserver(markRead).observe(document.body);
