"use strict";
/* The page of one report. `data` is what src/report/html.rs writes. */
page((data) => {
  const { report, labels, status, rounds, base_rounds: bases, confirmations } = data;
  const kindOf = { alert: "worse", warn: "warn", faster: "better" };
  const half = (finding) => {
    const [up, down] = [finding.high - finding.change, finding.change - finding.low];
    return Math.max(0, finding.low > 0 ? down : finding.high < 0 ? up : Math.max(up, down));
  };
  const size = (fraction) => (fraction === null ? "\u2013" : percent(Math.abs(fraction)).replace("+", ""));
  const rows = report.findings.map((finding, at) => {
    const compared = finding.change !== null;
    return {
      at, finding, text: (labels[at] + " " + finding.package + " " + finding.target).toLowerCase(),
      sort: { order: -at, name: labels[at], base: finding.base, head: finding.head, change: finding.change,
        width: compared ? half(finding) : null, detectable: finding.detectable, status: status[at][1] },
    };
  });
  for (const row of rows) {
    const { finding, at } = row;
    const kind = kindOf[finding.flag] || "plain";
    const compared = finding.change !== null;
    row.node = make("tr", {},
      make("td", { class: kind }, make("span", { "aria-hidden": "true" }, status[at][0] + " "), status[at][1]),
      make("td", { class: "name" }, make("button", { type: "button", onclick: () => open(row, true) }, labels[at])),
      make("td", { class: "num", "data-word": "base" }, quantity(finding.base, finding.unit)),
      make("td", { class: "num", "data-word": "head" }, quantity(finding.head, finding.unit)),
      make("td", { class: "num " + kind, "data-word": "change" }, compared ? percent(finding.change) : "\u2013"),
      make("td", { class: "num", "data-word": "\u00b1" }, compared ? size(half(finding)) : "\u2013"),
      make("td", { class: "num", "data-word": "detectable" }, size(finding.detectable)));
  }
  const [search, verdict] = [byId("search"), byId("verdict")];
  for (const word of new Set(report.findings.map((finding) => finding.verdict))) verdict.append(make("option", { value: word }, word.replace("_", " ")));
  const show = () => fill(rows, search, (row) => !verdict.value || row.finding.verdict === verdict.value);
  sortable(byId("head"), [
    ["Status", "order", "", true, "As reported"], ["Scenario", "name", "", false], ["Base", "base", "num", true], ["Head", "head", "num", true],
    ["Change", "change", "num", true], ["\u00b1", "width", "num", true], ["Detectable", "detectable", "num", true],
  ], rows, show, "order");
  for (const input of [search, verdict]) input.addEventListener("input", show);

  function open(row, scroll) {
    for (const each of rows) each.node.removeAttribute("aria-current");
    row.node.setAttribute("aria-current", "true");
    const { finding, at } = row;
    const close = make("button", { type: "button", "aria-label": "Close", onclick: () => {
      byId("detail").replaceChildren();
      row.node.removeAttribute("aria-current");
      row.node.querySelector("button").focus();
    } }, "Close");
    const heading = make("h2", { tabindex: "-1" }, labels[at]);
    const facts = [`${quantity(finding.base, finding.unit)} \u2192 ${quantity(finding.head, finding.unit)}`];
    if (finding.change !== null) {
      facts.push(`${percent(finding.change)} (${percent(finding.low)} to ${percent(finding.high)})`, `floor ${size(finding.floor)}`, `detectable ${size(finding.detectable)}`, `${finding.rounds} rounds`);
    }
    if (confirmations[at] !== null) facts.push(`fresh processes: ${percent(confirmations[at])}`);
    if (finding.instructions_change !== null) facts.push(`instructions ${percent(finding.instructions_change)}`);
    facts.push(finding.better === "lower" ? "lower is better" : "higher is better");
    byId("detail").replaceChildren(
      make("div", { class: "top" }, heading, close),
      make("p", { class: "faint" }, facts.join(" \u00b7 ")),
      rounds[at].length ? chart(row) : make("p", { class: "faint" }, "No rounds were measured."),
      rounds[at].length ? sides(row) : "",
      make("ul", { class: "notes", hidden: finding.notes.length === 0 }, finding.notes.map((note) => make("li", {}, note))));
    if (scroll) { byId("detail").scrollIntoView({ block: "start" }); heading.focus({ preventScroll: true }); }
  }

  /* Left: each round's change in order. Right: how often which change, so that outliers and two levels can be seen. */
  function chart(row) {
    const narrow = innerWidth < 720;
    const [width, height] = narrow ? [420, 280] : [1100, 320];
    const values = rounds[row.at];
    const { finding } = row;
    const kind = kindOf[finding.flag] || "plain";
    const sorted = values.slice().sort((one, other) => one - other);
    const quantile = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    const reach = Math.max(1e-4, quantile(0.97) - quantile(0.03));
    const low = Math.min(0, finding.low, Math.max(sorted[0], quantile(0.03) - reach)) - reach * 0.05;
    const high = Math.max(0, finding.high, Math.min(sorted[sorted.length - 1], quantile(0.97) + reach)) + reach * 0.05;
    const [left, right, top, bottom] = [narrow ? 56 : 64, narrow ? 310 : 860, 12, height - 30];
    const y = (value) => bottom - (bottom - top) * (Math.max(low, Math.min(high, value)) - low) / (high - low);
    const x = (round) => left + (right - left) * (round + 0.5) / values.length;
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Change of each of ${values.length} rounds; the line above says what follows from them` });
    svg.append(make("svg:rect", { x: left, width: width - 12 - left, y: y(finding.high), height: Math.max(1, y(finding.low) - y(finding.high)), class: "band" }));
    for (const tick of niceTicks(low, high, 6)) {
      svg.append(make("svg:line", { x1: left, x2: width - 12, y1: y(tick), y2: y(tick), class: Math.abs(tick) < 1e-12 ? "zero" : "grid" }),
        make("svg:text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickWords(Math.abs(tick) < 1e-12 ? 0 : tick)));
    }
    svg.append(make("svg:line", { x1: left, x2: width - 12, y1: y(finding.change), y2: y(finding.change), class: "mark " + kind, stroke: "currentColor" }));
    const step = Math.ceil(values.length / 1500);
    for (let n = 0; n < values.length; n += step) {
      const beyond = values[n] > high || values[n] < low;
      svg.append(beyond ? make("svg:line", { x1: x(n) - 4, x2: x(n) + 4, y1: y(values[n]), y2: y(values[n]), class: "hair", "stroke-width": 2 })
        : make("svg:circle", { cx: x(n), cy: y(values[n]), r: values.length > 200 ? 2 : 3.2, class: "dot" }));
    }
    svg.append(make("svg:text", { x: left, y: bottom + 20 }, `rounds 1 to ${values.length}`), make("svg:text", { x: width - 12, y: bottom + 20, "text-anchor": "end" }, "how often"));
    const bins = Math.max(14, Math.min(40, Math.round(Math.sqrt(values.length) * 1.5)));
    const counts = new Array(bins).fill(0);
    for (const value of values) counts[Math.max(0, Math.min(bins - 1, Math.floor((value - low) / (high - low) * bins)))] += 1;
    const most = Math.max(...counts);
    const [from, room] = [right + 14, width - 12 - right - 14];
    counts.forEach((count, n) => {
      const [upper, lower] = [y(low + (high - low) * (n + 1) / bins), y(low + (high - low) * n / bins)];
      if (count) svg.append(make("svg:rect", { x: from, width: room * count / most, y: upper + 0.5, height: Math.max(1, lower - upper - 1), class: "dot", "fill-opacity": 0.75 }));
    });
    return make("div", { class: "chart" }, svg);
  }

  /* What each side took, one dot a process, the median as a line: two clouds, or one with a tail. */
  function sides(row) {
    const narrow = innerWidth < 720;
    const [width, height] = narrow ? [420, 132] : [1100, 132];
    const { finding } = row;
    const base = bases[row.at];
    const both = [base, base.map((value, n) => value * (1 + rounds[row.at][n]))];
    const all = both.flat().sort((one, other) => one - other);
    if (all.length === 0) return "";
    const reach = Math.max(all[all.length - 1] * 1e-3, all[Math.floor(all.length * 0.95)] - all[Math.floor(all.length * 0.05)]);
    const low = Math.max(all[0], all[Math.floor(all.length * 0.05)] - 2 * reach) - reach * 0.05;
    const high = Math.min(all[all.length - 1], all[Math.floor(all.length * 0.95)] + 2 * reach) + reach * 0.05;
    const [left, right] = [narrow ? 56 : 64, width - 12];
    const x = (value) => left + (right - left) * (Math.max(low, Math.min(high, value)) - low) / (high - low);
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "What each process of base and head took" });
    for (const tick of niceTicks(low, high, narrow ? 3 : 6)) {
      svg.append(make("svg:line", { x1: x(tick), x2: x(tick), y1: 6, y2: height - 26, class: "grid" }),
        make("svg:text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, quantity(tick, finding.unit)));
    }
    both.forEach((values, side) => {
      const middle = 28 + side * 44;
      svg.append(make("svg:text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, side ? "head" : "base"));
      const step = Math.ceil(values.length / 800);
      for (let n = 0; n < values.length; n += step) {
        /* A fixed scatter, so that equal values can be seen beside each other. */
        svg.append(make("svg:circle", { cx: x(values[n]), cy: middle + ((n * 7) % 11 - 5) * 2.2, r: values.length > 200 ? 1.8 : 2.8, class: "dot", "fill-opacity": 0.7 }));
      }
      const sorted = values.slice().sort((one, other) => one - other);
      const median = sorted[Math.floor(sorted.length / 2)];
      svg.append(make("svg:line", { x1: x(median), x2: x(median), y1: middle - 18, y2: middle + 18, class: "hair", "stroke-width": 2 }));
    });
    return make("div", { class: "chart" }, svg);
  }

  const list = (id, items) => byId(id).replaceChildren(...items.map((item) => make("li", {}, item)));
  const absent = (value) => (value === null ? "nothing" : value);
  list("differences", report.differences.map((each) => `${each.kind} ${each.subject}: ${absent(each.base)} \u2192 ${absent(each.head)}`));
  byId("differences-box").hidden = report.differences.length === 0;
  list("notes", report.notes);
  byId("notes-box").hidden = report.notes.length === 0;
  list("host", Object.entries(report.host).filter(([, value]) => value !== null).map(([key, value]) => `${key.replace("_bytes", "")}: ${key === "memory_bytes" ? quantity(value, "bytes") : Array.isArray(value) ? value.join(", ") : value}`));
  ready(rows, search);
  const first = rows.find((row) => ["alert", "warn", "faster"].includes(row.finding.flag));
  if (first) open(first, false);
});
