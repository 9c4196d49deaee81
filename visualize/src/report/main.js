// The head of the page, and what starts everything.

function showSummary() {
  const versions = Object.entries(data.versions).map(([tool, version]) => `${tool} ${version}`);
  const verified = data.verified !== "no";
  byId("origin").textContent = verified ? `${versions.join(", ")}; ${data.verification}` : versions.join(", ");
  const notes = data.warnings.map((warning) => `Warning: ${warning}`);
  if (!verified) notes.unshift(`Warning: ${data.verification}`);
  if (data.stopped.length) notes.unshift(`Partial profile: ${data.stopped.join("; ")}`);
  byId("notes").append(...notes.map((note) => element("p", {}, note)));
  const useful = classes[0].cycles + classes[1].cycles;
  const figure = (name, cycles, note) =>
    byId("figures").append(element("div", {}, element("dt", {}, termOf(name)), element("dd", {}, count(cycles), " ", element("small", {}, note))));
  figure("cycles", data.cycles, "");
  figure("useful", useful, percent(useful, data.cycles));
  figure("overhead", data.cycles - useful, percent(data.cycles - useful, data.cycles));
  for (const { name, cycles, paint } of classes) {
    if (!cycles) continue;
    const box = element("span", { class: `paint-${paint}` });
    const swatch = box.cloneNode();
    box.style.flexGrow = String(cycles);
    byId("share").append(box);
    byId("legend").append(element("li", {}, swatch, termOf(name), " ", element("strong", {}, count(cycles)), ` ${percent(cycles, data.cycles)}`));
  }
  if (data.advice) showAdvice(data.advice);
  const lists = new Map([["what costs", []]]);
  for (const hotspot of data.hotspots) {
    if (!lists.has(hotspot.list)) lists.set(hotspot.list, []);
    lists.get(hotspot.list).push(hotspot);
  }
  for (const [title, hotspots] of lists) {
    rank(title, 2, hotspots.map(({ row, name, cost, source, why, times, guide }) => {
      const reason = element("td", { title: `${times === null ? "" : `entered ${count(times)} times, `}${percent(cost, data.cycles)} of the run; ${guide} tells more` }, why);
      return [row, cost, name, reason, element("td", { class: "code" }, source)];
    }));
  }
  rank("most expensive groups", 1, groups());
  if (data.observations) showObservations(data.observations);
}

/** What was observed: the first rows of each table, and pictures of how long and how often. */
function showObservations({ tables, histograms, samples }) {
  const shown = tables.map(({ title, header, rows, all }) => {
    const isNumber = (column) => rows.every((row) => row[column] === "" || !Number.isNaN(Number(row[column])));
    const classOf = header.map((_, column) => (isNumber(column) ? "number" : "code"));
    const line = (tag, cells) => element("tr", {}, ...cells.map((cell, column) => element(tag, { class: classOf[column] }, ...(tag === "td" ? linked(header[column], cell) : [cell]))));
    const rest = rows.length < all ? `; the first ${count(rows.length)} of ${count(all)} rows, all are in the folder observations` : "";
    const table = element("table", {}, element("thead", {}, line("th", header)), element("tbody", {}, ...rows.map((row) => line("td", row))));
    return element("details", { open: rows.length <= 12 ? "" : undefined }, element("summary", {}, title + rest), table);
  });
  const pictures = [
    ...histograms.map((series) => bars(series, (at, value) => `${count(value)} took ${count(at)} cycles`)),
    ...samples.map((series) => bars(series, (at, value) => `${count(value)} from cycle ${count(at)} on`)),
  ];
  byId("summary").append(element("section", { id: "observations" }, element("h2", {}, "Observations"), ...shown, element("div", { class: "pictures" }, ...pictures)));
}

/** A cell of a table of observations: cycles lead to the timeline, paths to the frames of the flame graph, and so to the source. */
function linked(column, cell) {
  const button = (text, onclick) => element("button", { type: "button", class: "link", onclick }, text);
  if (["t(i)", "cycle", "first cycle"].includes(column) && cell !== "") return [button(cell, () => chooseCycle(Number(cell)))];
  if (!["active", "by"].includes(column)) return [cell];
  return cell.split(" | ").flatMap((path, at) => {
    const frame = frameAt(path);
    return [at ? " | " : "", frame === undefined ? path : button(path, () => chooseFrame(frame))];
  });
}

/** The frame at the end of a path through the call tree. */
function frameAt(path) {
  const names = path.split(" > ");
  const named = (nodes, name) => nodes.find((node) => fullName(frameOf(node)) === name);
  const node = names.reduce((node, name) => named(node === undefined ? [] : node === null ? [0] : childrenOf[node], name), null);
  return node === undefined ? undefined : data.nodes.frames[node];
}

/** A series as bars. */
function bars({ name, unit, points }, told) {
  const [width, height] = [300, 60];
  const most = Math.max(...points.map(([, value]) => value), 1);
  const each = Math.min(width / points.length, 24);
  const rectangles = points.map(([at, value], nth) => {
    const size = (value / most) * height;
    return svg("rect", { x: nth * each, y: height - size, width: Math.max(each - 0.5, 0.5), height: size }, svg("title", {}, told(at, value)));
  });
  const ends = `${unit} ${count(points[0][0])} to ${count(points[points.length - 1][0])}, highest ${count(most)}`;
  return element("figure", {}, element("figcaption", {}, element("strong", {}, name), ` ${ends}`), svg("svg", { width, height, role: "img", "aria-label": name }, ...rectangles));
}

/** A node of a picture. */
function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** What `petal advise` found: what is proved, then what is checked. */
function showAdvice({ advice, cycles, with_all, file, arguments: options, data: tried, front }) {
  const at = data.files.findIndex(({ name, front }) => !front && (name === file || name.endsWith(`/${file}`)));
  const place = ({ place, line, front_end }) => {
    if (!place) return [];
    const known = line && data.files[at]?.lines[line - 1] !== undefined;
    const pick = known ? element("button", { type: "button", class: "link", onclick: () => choosePlace([at, line]) }, place) : place;
    return [pick, front_end ? ` ${front_end}` : ""];
  };
  const rows = advice.map((item) => {
    const { what, why, on_top, percent: share, cost, diff } = item;
    const more = element("details", {}, element("summary", {}, what), element("p", {}, why), element("p", {}, `hardware: ${cost}`));
    if (item.how) more.append(element("p", {}, item.how));
    if (diff) more.append(element("pre", { class: "code" }, diff));
    return element("tr", {}, element("td", { class: "number" }, count(on_top)), element("td", { class: "number" }, `${share} %`), element("td", {}, item.class), element("td", {}, ...place(item)), element("td", {}, more));
  });
  const saved = `${count(cycles)} → ${count(with_all)} cycles with all of it, tried on ${tried.map(({ name }) => name).join(", ")}`;
  const compile = options.length ? `; compile it with ${options.join(" ")}` : "";
  byId("ranks").append(
    element("section", { id: "advice" }, element("h2", {}, "Advice"), element("p", {}, rows.length ? saved + compile : "nothing found that saves cycles"), element("table", {}, element("tbody", {}, ...rows))),
  );
  if (front) showFront(front);
}

/** Combinations of advice that none beats: cycles from left to right, bits of registers upwards, cells as size. */
function showFront(points) {
  const [width, height, margin] = [420, 180, 28];
  const scale = (values, size) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value) => margin + ((value - least) / Math.max(most - least, 1)) * (size - 2 * margin);
  };
  const x = scale(points.map(({ cycles }) => cycles), width);
  const y = scale(points.map(({ register_bits }) => register_bits), height);
  const size = scale(points.map(({ cells }) => cells), 64);
  const told = ({ cycles, register_bits: bits, cells, changes, patch, arguments: options }) =>
    [`${count(cycles)} cycles, ${count(bits)} bits of registers, ${count(cells)} cells`, patch ?? "as it is", ...options, ...changes].join("\n");
  const dots = points.map((point) =>
    svg("circle", { cx: x(point.cycles), cy: height - y(point.register_bits), r: size(point.cells) / 8, class: point.proved ? "proved" : "checked" }, svg("title", {}, told(point))),
  );
  const label = (text, attributes) => svg("text", attributes, text);
  const picture = svg(
    "svg",
    { width, height, role: "img", "aria-label": "Combinations: cycles against bits of registers" },
    ...dots,
    label(`cycles ${count(points[0].cycles)} to ${count(points[points.length - 1].cycles)}`, { x: margin, y: height - 6 }),
    label("bits of registers ↑", { x: 0, y: 12 }),
  );
  byId("ranks").append(element("section", { id: "front" }, element("h2", {}, "Combinations that none beats"), picture));
}

/** The five groups of the source with the most cycles. */
function groups() {
  const { columns, rows } = data.tables[1];
  const value = (row, column) => rows[row][columns.findIndex(([title]) => title === column)];
  return rows
    .map((_, row) => [row, value(row, "total cycles"), `${value(row, "component")}.${value(row, "group")}`])
    .filter(([row, cycles]) => cycles > 0 && value(row, "origin") !== "compiler")
    .sort(([, a], [, b]) => b - a)
    .slice(0, 5);
}

/** A list of rows of a table: which, their cycles and names, and further cells. */
function rank(title, at, ranked) {
  const items = ranked.map(([row, cycles, name, ...more]) => {
    const pick = element("button", { type: "button", class: "link", onclick: () => chooseRow(at, row) }, name);
    return element("tr", {}, element("td", { class: "number" }, count(cycles)), element("td", {}, pick), ...more);
  });
  const none = element("tr", {}, element("td", {}, "none"));
  byId("ranks").append(
    element("section", {}, element("h2", {}, termOf(title, title[0].toUpperCase() + title.slice(1))), element("table", {}, element("tbody", {}, ...(items.length ? items : [none])))),
  );
}

function showTheme() {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.textContent = isDark() ? "Light" : "Dark";
  };
  const change = () => {
    tell();
    if (timeline.order) showWindow(timeline.from, timeline.to);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    change();
  });
  dark.addEventListener("change", change);
  tell();
}

function showKeys() {
  const keys = byId("keys");
  byId("help").hidden = false;
  byId("help").addEventListener("click", () => keys.showModal());
}

function globalKey(event) {
  if (byId("keys").open) return;
  if (event.key === "?" && !event.target.closest("input")) byId("keys").showModal();
  if (event.key === "/" && !event.target.closest("input")) {
    event.preventDefault();
    byId("search").focus();
  } else if (data.cycles && event.target === document.body && "wasdf0".includes(event.key)) {
    timelineKey(event);
  } else if (event.key === "Escape") {
    byId("search").value = "";
    search();
    zoomTo(0);
    if (timeline.area) chooseArea();
    chooseNothing();
  }
}

// All is there before anything can be clicked.
await loadTimeline();
document.querySelector("main").hidden = false;
showSummary();
showSource();
showFlame();
showTables();
showTimeline();
showKeys();
showTheme();
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    visit(link.hash.slice(1));
  });
}
document.addEventListener("keydown", globalKey);
// The style has what stays in sight in a box that is scrolled sideways.
document.addEventListener("scroll", ({ target }) => target.classList?.toggle("moved", target.scrollLeft > 0), true);
addEventListener("hashchange", readAddress);
openHottest();
readAddress();
