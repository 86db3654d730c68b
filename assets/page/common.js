"use strict";
/* What both pages share: making elements, numbers as words, the data, sorting, the theme. All text goes in as text. */
const SVG = "http://www.w3.org/2000/svg";
function make(name, attributes, ...children) {
  const svg = name.startsWith("svg:");
  const node = svg ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const byId = (id) => document.getElementById(id);
const MINUS = "\u2212";
function three(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Number(size.toPrecision(3)))));
  return value.toFixed(Math.min(digits, 8));
}
function percent(fraction) {
  if (fraction === null || !isFinite(fraction)) return "\u2013";
  if (fraction >= 10 || fraction <= -0.9995) return "\u00d7" + three(1 + fraction);
  const size = Math.abs(fraction * 100);
  const text = size >= 99.95 ? size.toFixed(0) : size.toFixed(1);
  if (Number(text) === 0) return "0.0 %";
  return (fraction < 0 ? MINUS : "+") + text + " %";
}
function quantity(value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return "\u2013";
  if (unit === "count" && Math.abs(value) < 1000) return value.toFixed(0);
  const units = { ns: ["ns", "\u00b5s", "ms", "s"], count: ["", "k", "M", "G"], bytes: ["B", "kB", "MB", "GB"], per_s: ["/s", "k/s", "M/s", "G/s"] }[unit] || [unit];
  let step = 0;
  while (step < units.length - 1 && Math.abs(Number(value.toPrecision(3))) >= 1000) { value /= 1000; step += 1; }
  return three(value) + " " + units[step];
}
async function unpack(id) {
  const text = atob(byId(id).textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n += 1) bytes[n] = text.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
function niceTicks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999999);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n += 1) ticks.push(n * step);
  return ticks;
}
function tickWords(fraction) {
  const text = Number((Math.abs(fraction) * 100).toFixed(2)) + " %";
  return fraction > 0 ? "+" + text : fraction < 0 ? MINUS + text : "0";
}
function mark(x, y, kind, title) {
  const shapes = {
    worse: `M${x} ${y - 7}l7 7-7 7-7-7z`, warn: `M${x} ${y - 6}l6 11h-12z`, better: `M${x} ${y + 6}l6-11h-12z`,
    blessed: `M${x - 5} ${y}a5 5 0 1 0 10 0a5 5 0 1 0-10 0z`,
  };
  return make("svg:path", { d: shapes[kind], class: "mark " + kind }, title ? make("svg:title", {}, title) : null);
}
function theme() {
  const button = byId("theme");
  let own = null;
  try { own = localStorage.getItem("abreast-theme"); } catch (error) { own = null; }
  const dark = () => document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  if (own === "dark" || own === "light") document.documentElement.dataset.theme = own;
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours"); };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("abreast-theme", document.documentElement.dataset.theme); } catch (error) { /* files may have no storage */ }
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();
}
/* A table whose headings sort. `columns`: [word, key or null, class, descending first, word in a list]; `show(rows)` fills the body. */
function sortable(head, columns, rows, show, first) {
  let order = first;
  let descending = true;
  const cells = columns.map(([word, key, style, down]) => {
    if (!key) return make("th", { scope: "col", class: style }, word);
    const button = make("button", { type: "button", onclick: () => {
      descending = order === key ? !descending : down;
      order = key;
      apply();
    } }, word);
    const cell = make("th", { scope: "col", class: style }, button);
    cell.key = key;
    return cell;
  });
  head.replaceChildren(...cells);
  /* Where there is no room for headings, a list stands for them. */
  const list = byId("order");
  for (const [word, key, , , inList] of columns) if (key) list.append(make("option", { value: key }, inList || word));
  list.addEventListener("input", () => {
    order = list.value;
    descending = columns.find(([, key]) => key === order)[3];
    apply();
  });
  function apply() {
    list.value = order;
    for (const cell of cells) {
      if (cell.key) cell.setAttribute("aria-sort", cell.key === order ? (descending ? "descending" : "ascending") : "none");
    }
    const value = (row) => row.sort[order];
    rows.sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === b) return one.at - other.at;
      if (a === null) return 1;
      if (b === null) return -1;
      const compared = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
      return descending ? -compared : compared;
    });
    show();
  }
  apply();
  return apply;
}
/* Unpacks the data and hands it to `draw`; says so where that fails, and when everything is drawn how long it took. */
async function page(draw) {
  theme();
  const began = performance.now();
  let data;
  try {
    data = await unpack("data");
  } catch (error) {
    byId("status").textContent = "This page cannot be shown: the browser is too old, or the file is damaged (" + error + ").";
    return;
  }
  draw(data);
  document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
}
/* Fills the table with the rows that have every word of the search and are wanted, and says how many they are. */
function fill(rows, search, wanted) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter((row) => words.every((word) => row.text.includes(word)) && wanted(row));
  byId("body").replaceChildren(...shown.map((row) => row.node));
  byId("count").textContent = shown.length === rows.length ? `${rows.length} scenarios` : `${shown.length} of ${rows.length} scenarios`;
}
/* The table stands: it is shown, and keys lead to the search and out of an open scenario. */
function ready(rows, search) {
  byId("status").remove();
  byId("table").hidden = rows.length === 0;
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && byId("detail").firstChild) byId("detail").querySelector(".top button").click();
  });
}
