"use strict";
/* The page of a history. `data` is what src/report/trend/page.rs writes. */
page((data) => {
  const Z = 1.96;
  const commits = data.commits;
  const short = (at) => commits[at].sha.slice(0, 10);
  const day = (at) => new Date(commits[at].time * 1000).toISOString().slice(0, 10);
  const kindOf = (change) => change.blessed !== null ? "blessed" : change.worse ? (Math.abs(change.size) >= 0.1 ? "worse" : "warn") : "better";
  const wordOf = { blessed: "blessed", worse: "worse", warn: "worse", better: "better" };
  const signOf = { worse: "\u25c6", warn: "\u25b2", better: "\u25bc", blessed: "\u25cb" };

  /* Levels are written as differences in units of 0.01 %, commits as differences of positions. */
  function numbers(text) {
    const parts = text.split(" ");
    const out = new Float64Array(parts.length);
    let sum = 0;
    for (let n = 0; n < parts.length; n += 1) { sum += +parts[n]; out[n] = sum; }
    return out;
  }
  function stretches(series) {
    if (!series.levels) {
      series.levels = series.stretches.map((each) => {
        const [at, level, error] = [numbers(each.commits), numbers(each.level), numbers(each.error)];
        return { begins: each.begins, reference: at[each.reference], at, level: level.map((x) => x / 1e4), error: error.map((x) => x / 1e4) };
      });
    }
    return series.levels;
  }
  function find(series, commit) {
    for (const each of stretches(series)) {
      const n = each.at.indexOf(commit);
      if (n >= 0) return [each, n];
    }
    return null;
  }
  const fraction = (level) => Math.expm1(level);

  /* Few enough points for the room: of neighbours that share a place the last counts, and the widest interval. */
  function columns(each, most) {
    const share = Math.max(1, Math.ceil(each.at.length / most));
    const out = [];
    for (let from = 0; from < each.at.length; from += share) {
      const to = Math.min(from + share, each.at.length) - 1;
      let [low, high] = [Infinity, -Infinity];
      for (let n = from; n <= to; n += 1) {
        low = Math.min(low, each.level[n] - Z * each.error[n]);
        high = Math.max(high, each.level[n] + Z * each.error[n]);
      }
      out.push({ at: each.at[to], level: fraction(each.level[to]), low: fraction(low), high: fraction(high) });
    }
    return out;
  }

  function spark(series) {
    const [width, height] = [180, 34];
    const parts = stretches(series).map((each) => columns(each, 90));
    const all = parts.flat().map((point) => point.level);
    let [low, high] = [Math.min(-0.025, ...all), Math.max(0.025, ...all)];
    const x = (at) => 4 + (width - 8) * at / Math.max(1, commits.length - 1);
    const y = (level) => height - 6 - (height - 12) * (level - low) / (high - low);
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" });
    for (const points of parts) {
      if (points.length === 1) svg.append(make("svg:circle", { cx: x(points[0].at), cy: y(points[0].level), r: 1.6, class: "dot" }));
      else svg.append(make("svg:path", { class: "line", "stroke-width": 1.2, d: "M" + points.map((point) => x(point.at).toFixed(1) + " " + y(point.level).toFixed(1)).join("L") }));
    }
    for (const change of series.changes) {
      const found = find(series, change.at);
      if (found) svg.append(mark(x(change.at), y(fraction(found[0].level[found[1]])), kindOf(change)));
    }
    return svg;
  }

  const rows = data.series.map((series, at) => {
    const last = series.changes[series.changes.length - 1] || null;
    const open = series.changes.filter((change) => change.worse && change.blessed === null);
    const worst = open.reduce((most, change) => Math.max(most, Math.abs(change.size)), 0);
    return {
      at, series, last, open: open.length > 0,
      text: (series.name + " " + data.classes[series.class]).toLowerCase(),
      sort: {
        attention: open.length > 0 ? 10 + worst : last ? 1 + Math.min(Math.abs(last.size), 1) : 0,
        name: series.name, value: series.latest, since: series.since ? series.since[0] : null,
        change: last ? last.size : null, when: last ? last.at : null,
      },
    };
  });

  let drawer = null;
  const sparks = new IntersectionObserver((seen) => {
    for (const each of seen) {
      if (!each.isIntersecting) continue;
      sparks.unobserve(each.target);
      each.target.append(spark(each.target.series));
    }
  }, { rootMargin: "200px" });

  for (const row of rows) {
    const series = row.series;
    const cell = make("td", { class: "spark" });
    cell.series = series;
    sparks.observe(cell);
    const since = series.since;
    let change = make("td", { class: "num plain", "data-word": "last change" }, "\u2013");
    if (row.last) {
      const kind = kindOf(row.last);
      change = make("td", { class: "num " + kind, "data-word": "last change" }, make("span", { class: "sign", "aria-hidden": "true" }, signOf[kind]),
        percent(row.last.size), make("span", { class: "faint" }, " " + wordOf[kind]));
    }
    row.node = make("tr", {},
      make("td", { class: "name" }, make("button", { type: "button", onclick: () => open(row, true) }, series.name),
        data.classes.length > 1 ? make("span", { class: "faint" }, data.classes[series.class]) : null),
      cell,
      make("td", { class: "num", "data-word": "now" }, quantity(series.latest, series.unit)),
      make("td", { class: "num", "data-word": "since reference", title: since ? percent(since[1]) + " to " + percent(since[2]) : null }, since ? percent(since[0]) : "\u2013"),
      change,
      make("td", { class: "num", "data-word": "at" }, row.last ? day(row.last.at) : "\u2013"));
  }

  const search = byId("search");
  const only = byId("only");
  const classes = byId("class");
  for (const [n, name] of data.classes.entries()) classes.append(make("option", { value: n }, name));
  classes.closest("label").hidden = data.classes.length < 2;
  const show = () => fill(rows, search,
    (row) => (!only.checked || row.last) && (classes.value === "" || row.series.class === +classes.value));
  const apply = sortable(byId("head"), [
    ["Scenario", "name", "", false], ["History", "attention", "", true, "What needs a look"], ["Now", "value", "num", true],
    ["Since reference", "since", "num", true], ["Last change", "change", "num", true], ["On", "when", "num", true],
  ], rows, show, "attention");
  for (const input of [search, only, classes]) input.addEventListener("input", show);

  function link(at) {
    const text = make("code", {}, short(at));
    return data.link ? make("a", { href: data.link + commits[at].sha, rel: "noreferrer noopener" }, text) : text;
  }
  function where(at) {
    const tags = commits[at].tags.length ? " " + commits[at].tags.join(" ") : "";
    return [link(at), " ", make("span", { class: "faint" }, day(at) + tags + " \u00b7 "), commits[at].subject];
  }

  function open(row, scroll) {
    for (const each of rows) each.node.removeAttribute("aria-current");
    row.node.setAttribute("aria-current", "true");
    const series = row.series;
    const since = series.since;
    const reference = series.levels || stretches(series);
    const newest = reference[reference.length - 1];
    const close = make("button", { type: "button", "aria-label": "Close the chart", onclick: () => {
      byId("detail").replaceChildren();
      row.node.removeAttribute("aria-current");
      history.replaceState(null, "", location.pathname + location.search);
      row.node.querySelector("button").focus();
    } }, "Close");
    const heading = make("h2", { tabindex: "-1" }, series.name);
    const facts = [quantity(series.latest, series.unit) + " now"];
    if (since) facts.push(`${percent(since[0])} (${percent(since[1])} to ${percent(since[2])}) since ${commits[newest.reference].tags[0] || short(newest.reference)}`);
    facts.push(series.better === "lower" ? "lower is better" : "higher is better", data.classes[series.class]);
    const changes = series.changes.slice().reverse().map((change) => {
      const kind = kindOf(change);
      return make("li", {}, make("strong", { class: kind }, make("span", { class: "sign", "aria-hidden": "true" }, signOf[kind]), `${percent(change.size)} ${wordOf[kind]}`),
        ` (${percent(change.low)} to ${percent(change.high)})`,
        change.shape === "drift" ? [" in small steps after ", link(change.before), ", until "] : ", ", where(change.at),
        make("div", { class: "faint" }, change.shape === "jump" && change.at - change.before > 0 ? ["after ", link(change.before), ", "] : null,
          `by chance alone: ${change.chance < 1e-4 ? "less than 1 in 10,000" : "p " + three(change.chance)}`,
          change.blessed !== null ? make("div", {}, "Blessed: " + change.blessed) : null));
    });
    byId("detail").replaceChildren(
      make("div", { class: "top" }, heading, close), make("p", { class: "faint" }, facts.join(" \u00b7 ")), chart(series),
      make("h3", {}, changes.length === 0 ? "No change" : changes.length === 1 ? "1 change" : changes.length + " changes"),
      make("ul", { class: "changes" }, changes));
    history.replaceState(null, "", "#" + encodeURIComponent(data.classes[series.class] + " " + series.name));
    if (scroll) { byId("detail").scrollIntoView({ block: "start" }); heading.focus({ preventScroll: true }); }
    drawer = row;
  }

  function chart(series) {
    const narrow = innerWidth < 720;
    const [width, height] = narrow ? [420, 300] : [1100, 380];
    const [left, right, top, bottom] = [narrow ? 52 : 62, width - 12, 24, height - 34];
    const all = stretches(series);
    const parts = all.map((each) => columns(each, narrow ? 200 : 520));
    const flat = parts.flat();
    const robust = (values, least) => {
      const sorted = values.filter((value) => value > 0).sort((one, other) => one - other);
      if (sorted.length === 0) return least;
      const [most, common] = [sorted[sorted.length - 1], Math.max(least, sorted[Math.floor(sorted.length * 0.9)])];
      return (most <= 3 * common ? Math.max(most, least) : 1.5 * common) * 1.06;
    };
    const high = robust(flat.map((point) => point.level + (point.high - point.level) / 2), 0.012);
    const low = -robust(flat.map((point) => -(point.level + (point.low - point.level) / 2)), 0.012);
    const [first, last] = [Math.min(...flat.map((point) => point.at)), Math.max(...flat.map((point) => point.at))];
    const clamp = (value) => Math.max(low, Math.min(high, value));
    const x = (at) => left + (right - left) * (at - first) / Math.max(1, last - first);
    const y = (level) => bottom - (bottom - top) * (clamp(level) - low) / (high - low);
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Level of ${series.name} over ${last - first + 1} commits; the list below says what changed` });
    for (const tick of niceTicks(low, high, narrow ? 5 : 7)) {
      svg.append(make("svg:line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }),
        make("svg:text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickWords(tick)));
    }
    const days = narrow ? 3 : 6;
    for (let n = 0; n <= days; n += 1) {
      const at = Math.round(first + (last - first) * n / days);
      svg.append(make("svg:text", { x: x(at), y: bottom + 20, "text-anchor": n === 0 ? "start" : n === days ? "end" : "middle" }, day(at)));
    }
    let free = left;
    for (let at = first; at <= last; at += 1) {
      const tag = commits[at].tags[0];
      if (!tag) continue;
      svg.append(make("svg:line", { x1: x(at), x2: x(at), y1: top, y2: bottom, class: "tag" }));
      const room = 7 * Math.min(tag.length, 14) + 8;
      if (x(at) >= free && x(at) + room < right + 12) { svg.append(make("svg:text", { x: x(at) + 2, y: top - 8 }, tag.slice(0, 14))); free = x(at) + room; }
    }
    for (const points of parts) {
      const path = (key) => points.map((point) => x(point.at).toFixed(1) + " " + y(point[key]).toFixed(1));
      svg.append(make("svg:path", { class: "band", d: "M" + path("high").concat(path("low").reverse()).join("L") + "z" }));
    }
    for (const [n, points] of parts.entries()) {
      if (points.length === 1) svg.append(make("svg:circle", { cx: x(points[0].at), cy: y(points[0].level), r: 2.5, class: "dot" }));
      else svg.append(make("svg:path", { class: "line", d: "M" + points.map((point) => x(point.at).toFixed(1) + " " + y(point.level).toFixed(1)).join("L") }));
      if (n > 0) {
        const at = x(points[0].at) - 3;
        svg.append(make("svg:line", { x1: at, x2: at, y1: top, y2: bottom, class: "break" }),
          make("svg:text", { x: at + 5, y: bottom - 6 }, all[n].begins));
      }
    }
    for (const change of series.changes) {
      const found = find(series, change.at);
      if (!found) continue;
      const kind = kindOf(change);
      const at = [x(change.at), y(fraction(found[0].level[found[1]]))];
      const before = find(series, change.before);
      if (change.shape === "drift" && before) {
        svg.append(make("svg:line", { x1: x(change.before), y1: y(fraction(before[0].level[before[1]])), x2: at[0], y2: at[1], class: "mark " + kind, "stroke-width": 3 }));
      } else {
        svg.append(make("svg:line", { x1: at[0], x2: at[0], y1: top, y2: bottom, class: "mark " + kind, "stroke-width": 1, "stroke-dasharray": "4 4" }));
      }
      svg.append(mark(at[0], at[1], kind, `${percent(change.size)} at ${short(change.at)}`));
      const end = at[0] > right - 70;
      svg.append(make("svg:text", { x: at[0] + (end ? -10 : 10), y: at[1] > top + 26 ? at[1] - 10 : at[1] + 20, "text-anchor": end ? "end" : "start", class: kind }, percent(change.size)));
    }
    /* Reading single commits: with a pointer, or with the arrow keys. */
    const hair = make("svg:line", { y1: top, y2: bottom, class: "hair", visibility: "hidden" });
    const dot = make("svg:circle", { r: 4, class: "dot", visibility: "hidden" });
    svg.append(hair, dot);
    const help = "Point at the chart, or use the arrow keys, to read single commits.";
    const readout = make("div", { class: "readout", "aria-live": "polite" }, make("span", { class: "faint" }, help));
    const points = all.flatMap((each, part) => Array.from(each.at, (at, n) => ({ at, part, level: each.level[n], error: each.error[n] })));
    let current = points.length - 1;
    function read(n) {
      current = Math.max(0, Math.min(points.length - 1, n));
      const point = points[current];
      for (const [node, attributes] of [[hair, { x1: x(point.at), x2: x(point.at) }], [dot, { cx: x(point.at), cy: y(fraction(point.level)) }]]) {
        for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
        node.setAttribute("visibility", "visible");
      }
      const ends = [point.level - Z * point.error, point.level + Z * point.error].map((level) => percent(fraction(level)));
      readout.replaceChildren(make("strong", {}, percent(fraction(point.level))), ` (${ends[0]} to ${ends[1]}) at `, ...where(point.at));
    }
    function nearest(event) {
      const box = svg.getBoundingClientRect();
      const at = first + ((event.clientX - box.left) / box.width * width - left) / (right - left) * (last - first);
      let [from, to] = [0, points.length - 1];
      while (from < to) { const middle = (from + to) >> 1; if (points[middle].at < at) from = middle + 1; else to = middle; }
      return from > 0 && at - points[from - 1].at < points[from].at - at ? from - 1 : from;
    }
    const box = make("div", {
      class: "chart", tabindex: "0", role: "group", "aria-label": "Chart; arrow keys read single commits",
      onpointermove: (event) => read(nearest(event)), onpointerdown: (event) => read(nearest(event)),
      onkeydown: (event) => {
        const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
        if (event.key in steps) { event.preventDefault(); read(isFinite(steps[event.key]) ? current + steps[event.key] : steps[event.key] > 0 ? points.length - 1 : 0); }
      },
    }, svg, readout);
    return box;
  }

  const notes = [...data.notes, ...data.skipped.map(([path, why]) => path + " " + why)];
  byId("notes").replaceChildren(...notes.map((note) => make("li", {}, note)));
  byId("notes-box").hidden = notes.length === 0;
  byId("notes-count").textContent = notes.length === 1 ? "1 note about this history" : notes.length + " notes about this history";
  ready(rows, search);
  let wide = innerWidth >= 720;
  addEventListener("resize", () => {
    if (wide !== innerWidth >= 720 && byId("detail").firstChild) open(drawer, false);
    wide = innerWidth >= 720;
  });
  let asked = "";
  try { asked = decodeURIComponent(location.hash.slice(1)); } catch (error) { asked = ""; }
  const named = asked && rows.find((row) => data.classes[row.series.class] + " " + row.series.name === asked);
  const worst = rows.find((row) => row.open);
  if (named) open(named, true); else if (worst) open(worst, false);
});
