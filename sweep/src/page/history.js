// The page of a history: cycles and overhead of each commit, and the first that made it worse.
const SERIES = ["cycles", "overhead_cycles"];
const day = (time) => new Date(time * 1000).toISOString().slice(0, 16).replace("T", " ");
const brief = (entry) => `${entry.commit.slice(0, 10)} ${entry.subject}`;
const before = (entries, at) => entries[Math.max(at - 1, 0)].cycles;

/** A line for each figure over the commits. */
function draw({ name: design, entries, worse }) {
  const [width, height] = [960, 400];
  const [left, right, top, bottom] = [72, 16, 14, 48];
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `cycles of ${design} by commit` });
  const last = Math.max(entries.length - 1, 1);
  const x = (at) => left + 10 + (at / last) * (width - left - right - 20);
  const most = Math.max(...entries.map((entry) => entry.cycles), 1);
  const y = scale([0, most], [height - bottom, top], false);
  for (const tick of y.ticks) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick) }), svg("text", { x: left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  const each = Math.ceil(entries.length / 10);
  entries.forEach((entry, at) => {
    if (at % each === 0) picture.append(svg("text", { x: x(at), y: height - bottom + 17, "text-anchor": "middle" }, entry.commit.slice(0, 7)));
  });
  picture.append(svg("text", { class: "title", x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }, "commits, oldest first"));
  if (worse !== null) picture.append(svg("line", { class: "alert", x1: x(worse), x2: x(worse), y1: top, y2: height - bottom }));
  SERIES.forEach((name, nth) => {
    const path = entries.map((entry, at) => `${at ? "L" : "M"}${x(at)} ${y.at(entry[name])}`).join("");
    picture.append(svg("path", { class: `series c${nth}`, d: path }));
    entries.forEach((entry, at) => {
      const point = mark(nth, x(at), y.at(entry[name]), 4);
      point.append(svg("title", {}, `${brief(entry)}\n${day(entry.time)}\n${name} ${count(entry[name])}`));
      picture.append(point);
    });
  });
  const legend = SERIES.map((name, nth) => element("li", {}, svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(nth, 7, 7)), name));
  return [picture, element("ul", { class: "legend" }, ...legend)];
}

/** All commits, newest first. */
function table({ entries, worse }) {
  const head = ["commit", "date", "what", ...SERIES, "change"];
  const lines = entries.map((entry, at) => {
    const change = entry.cycles - before(entries, at);
    const told = change > 0 ? `+${count(change)}` : count(change);
    const cells = [element("td", {}, entry.commit.slice(0, 10)), element("td", {}, day(entry.time)), element("td", { title: entry.subject }, entry.subject)];
    cells.push(...SERIES.map((name) => element("td", { class: "number" }, count(entry[name]))), element("td", { class: "number" }, change ? told : ""));
    return element("tr", { class: at === worse ? "pointed" : "" }, ...cells);
  });
  const heads = head.map((name, at) => element("th", { class: at > 2 ? "number" : "" }, name));
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines.reverse()));
}

/** A design with all its commits. */
function section(history) {
  const { name, entries, worse } = history;
  const entry = entries[worse ?? 0];
  const told = worse === null ? [] : [element("p", { class: "worse" }, `Slower since ${brief(entry)}: ${count(before(entries, worse))} → ${count(entry.cycles)} cycles`)];
  return element("section", { "aria-label": name }, element("h2", {}, name), ...told, element("div", { class: "picture" }, ...draw(history)), element("div", { class: "box" }, table(history)));
}

byId("origin").textContent = "cycles and overhead of each commit";
byId("main").append(...data.map(section));
