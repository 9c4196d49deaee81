// The page of a sweep: a matrix of designs and pipelines, a picture of any two figures, and a table.
/** A scale from values to pixels, and round values in between to draw lines at. */
function scale([least, most], [from, to], logarithmic) {
  const log = logarithmic;
  // Zero has a place as well.
  const shift = least > 0 ? 0 : 1;
  const of = log ? (value) => Math.log10(value + shift) : (value) => value;
  let [low, high] = [of(least), of(most)];
  const room = (high - low) * 0.05 || (log ? 0.1 : Math.abs(high) * 0.05) || 1;
  const isFromZero = !log && low >= 0 && low < room;
  [low, high] = [isFromZero ? 0 : low - room, high + room];
  const at = (value) => from + ((of(value) - low) / (high - low)) * (to - from);
  const ticks = [];
  if (log && high - low > 1) {
    const steps = high - low > 3 ? [1] : [1, 2, 5];
    if (shift) ticks.push(0);
    for (let power = Math.max(Math.floor(low), shift ? 0 : -Infinity); power <= high; power += 1)
      for (const step of steps) ticks.push(step * 10 ** power);
  } else {
    const [first, last] = log ? [10 ** low - shift, 10 ** high - shift] : [low, high];
    const rough = (last - first) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max([1, 2, 5, 10].find((factor) => factor * power >= rough) * power, 1);
    for (let tick = Math.ceil(first / step) * step; tick <= last; tick += step) ticks.push(tick);
  }
  const shown = ticks.filter((tick) => tick >= 0 && of(tick) >= low && of(tick) <= high);
  return { at, ticks: shown };
}

/** Values on an axis: short ones, since the table has all digits. */
function short(value) {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(4))} k`;
  return count(value);
}

const COLORS = 8;
/** A mark for the category `index`: all differ in colour, the first four in shape as well. */
function mark(index, x, y, size = 5) {
  const shapes = [
    () => svg("circle", { cx: x, cy: y, r: size }),
    () => svg("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8 }),
    () => svg("path", { d: `M${x} ${y - size * 1.2}l${size * 1.15} ${size * 2}h${-size * 2.3}z` }),
    () => svg("path", { d: `M${x} ${y - size * 1.3}l${size * 1.3} ${size * 1.3}l${-size * 1.3} ${size * 1.3}l${-size * 1.3} ${-size * 1.3}z` }),
  ];
  const turn = index + Math.floor(index / COLORS);
  const node = shapes[turn % shapes.length]();
  node.setAttribute("class", `mark c${index % COLORS}`);
  return node;
}

/** A long name that may be broken after `_`. */
const breakable = (name) => name.split("_").flatMap((part, nth) => (nth ? ["_", element("wbr"), part] : [part]));

/** A column's head that sorts. */
function heading(name, isNumber, order, choose) {
  const sort = order.column === name ? (order.ascending ? "ascending" : "descending") : undefined;
  const ascending = order.column === name ? !order.ascending : true;
  return element("th", { class: isNumber ? "number" : "", "aria-sort": sort }, element("button", { type: "button", onclick: () => choose(name, ascending) }, ...breakable(name)));
}

const SHOWN = 500;
const TEXTS = ["design", "passes", "data", ...data.parameters];
const PIPELINES = [...new Set(data.rows.map(({ passes }) => passes))];
/** The column that the page adds: how many times shorter a run is than the same with the pipeline that is chosen. */
const SPEED_UP = "speed-up";

/** The first of the two figures that the sweep is about, of which speed-up tells. */
const MAIN = data.pareto[0];

/** The run of the same design, parameters and data with another pipeline. */
const others = new Map(data.rows.map((row) => [JSON.stringify([row.design, row.data, row.passes]), row]));
const withPasses = (row, passes) => others.get(JSON.stringify([row.design, row.data, passes]));

function speedUp(row) {
  const base = withPasses(row, state.base);
  const [was, is] = [base && valueIn(base, MAIN), valueIn(row, MAIN)];
  return was && is ? Math.round((was / is) * 1000) / 1000 : undefined;
}

/** The value of a row in a column: a text, a number, or nothing. */
function valueIn(row, column) {
  if (column === SPEED_UP) return speedUp(row);
  const at = data.figures.indexOf(column);
  if (at >= 0) return row.figures[at] ?? undefined;
  const parameter = data.parameters.indexOf(column);
  if (parameter >= 0) return numeric.has(column) && row.parameters[parameter] !== "" ? Number(row.parameters[parameter]) : row.parameters[parameter];
  if (column === "warnings") return row.warnings.join("\n");
  return column === "error" ? (row.error ?? "") : row[column];
}
const numeric = new Set([...data.figures, SPEED_UP]);
data.parameters.forEach((name, at) => {
  if (data.rows.every((row) => !Number.isNaN(Number(row.parameters[at])))) numeric.add(name);
});
const failed = data.rows.filter((row) => row.error !== null);
const warned = data.rows.filter((row) => row.warnings.length);
const measures = [...data.figures, SPEED_UP, ...data.parameters.filter((name) => numeric.has(name))];
/** A figure that is 0 in all runs tells nothing. */
const telling = data.figures.filter((_, at) => data.rows.some((row) => row.figures[at]));
const columns = [...TEXTS, ...(telling.includes("cycles") ? ["cycles", SPEED_UP] : [SPEED_UP]), ...telling.filter((name) => name !== "cycles"), ...(failed.length ? ["error"] : []), ...(warned.length ? ["warnings"] : [])];
const state = { base: PIPELINES.includes("no-opt") ? "no-opt" : PIPELINES[0], filter: "", x: data.pareto[0], y: data.pareto[1], color: "passes", log: true, column: data.pareto[0], ascending: true, all: false };

/** What a row must be: words that it has, or a column, a sign and a value. */
function filters(text) {
  return (text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => {
    const plain = word.replaceAll('"', "");
    const parts = plain.match(/^([\w.: -]+?)(<=|>=|!=|=|<|>)(.*)$/);
    if (!parts || !columns.includes(parts[1])) return (row) => TEXTS.some((column) => String(valueIn(row, column)).includes(plain)) || (row.error ?? "").includes(plain) || row.warnings.join("\n").includes(plain);
    const [, column, sign, to] = parts;
    return (row) => {
      const value = valueIn(row, column);
      if (value === undefined) return false;
      const [a, b] = numeric.has(column) ? [value, Number(to)] : [String(value), to];
      return { "=": a === b, "!=": a !== b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[sign];
    };
  });
}

/** The rows of a group, a family of designs on one data set, that no other one of it beats in both figures. */
function fronts(rows) {
  const groups = new Map();
  for (const row of rows) {
    const [x, y] = [valueIn(row, state.x), valueIn(row, state.y)];
    if (x === undefined || y === undefined) continue;
    const key = JSON.stringify([row.family, row.data]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push({ row, x, y });
  }
  return [...groups.values()].map((points) => {
    points.sort((a, b) => a.x - b.x || a.y - b.y);
    let least = Infinity;
    return points.filter(({ y }) => {
      const isLess = y < least;
      if (isLess) least = y;
      return isLess;
    });
  });
}

const told = (row) =>
  [`${row.design}${row.error ? " (failed)" : ""}`, `passes ${row.passes}`, `data ${row.data}`, ...data.figures.slice(0, 8).map((name, at) => (row.figures[at] === null ? "" : `${name} ${count(row.figures[at])}`)).filter(Boolean)].join("\n");
const report = (row) => (row.profile ? `${row.profile}/report.html` : undefined);

/** The names of designs beside their points, if there is room: once for points of a design that are near one another. */
function names(points, [least, highest, most, lowest]) {
  const taken = points.map(({ left, top }) => [left - 5, top - 5, left + 5, top + 5]);
  const isFree = (box) => taken.every(([left, top, right, bottom]) => box[2] < left || box[0] > right || box[3] < top || box[1] > bottom);
  const named = new Map();
  return points.flatMap(({ row, left, top }) => {
    const name = row.design.length > 26 ? `${row.design.slice(0, 25)}…` : row.design;
    if (!named.has(row.design)) named.set(row.design, []);
    if (named.get(row.design).some(([x, y]) => Math.hypot(x - left, y - top) < 80)) return [];
    const width = name.length * 6.4;
    const spots = [[8, 4], [8, -8], [8, 16], [-8 - width, 4], [-8 - width, -8], [-width / 2, -10], [-width / 2, 20], [14, 30], [14, -24]];
    const spot = spots.find(([dx, dy]) => left + dx > least && left + dx + width < most && top + dy - 10 > highest && top + dy < lowest && isFree([left + dx, top + dy - 10, left + dx + width, top + dy + 1]));
    if (!spot) return [];
    const [dx, dy] = spot;
    taken.push([left + dx, top + dy - 10, left + dx + width, top + dy + 1]);
    named.get(row.design).push([left, top]);
    return [svg("text", { class: "name", x: left + dx, y: top + dy }, name)];
  });
}

/** Designs by pipelines: the main figure of each, and by how much it differs from that of the pipeline that is chosen. */
function matrix(rows) {
  const lines = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.design, row.data]);
    if (!lines.has(key)) lines.set(key, row);
  }
  const several = new Set(rows.map(({ data }) => data)).size > 1;
  const shown = PIPELINES.filter((passes) => rows.some((row) => row.passes === passes));
  const head = element("tr", {}, element("th", { scope: "col" }, "design"), ...(several ? [element("th", { scope: "col" }, "data")] : []), ...shown.map((passes) => element("th", { scope: "col", class: "number" }, passes === state.base ? `${passes} (=)` : passes, " ", element("small"))));
  const body = [...lines.values()].slice(0, state.all ? undefined : SHOWN).map((row) => {
    const values = shown.map((passes) => withPasses(row, passes)).map((other) => (other ? valueIn(other, MAIN) : undefined));
    const least = Math.min(...values.filter((value) => value !== undefined));
    const base = withPasses(row, state.base);
    const was = base && valueIn(base, MAIN);
    const cells = values.map((value, nth) => {
      if (value === undefined) return element("td", {}, withPasses(row, shown[nth]) ? "failed" : "");
      const change = was && value !== was ? `${value > was ? "+" : "−"}${percent(Math.abs(value - was), was)}` : "";
      return element("td", { class: value === least ? "best" : undefined }, count(value), " ", element("small", { class: value > was ? "grew" : value < was ? "shrank" : undefined }, change));
    });
    return element("tr", {}, element("th", { scope: "row" }, row.design), ...(several ? [element("td", { class: "code" }, row.data)] : []), ...cells);
  });
  byId("matrix").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
}

/** All points, the fronts as lines where there are few enough to tell them apart. */
function draw(rows) {
  // As wide as there is room, so that its texts are as large as those of the page.
  const room = byId("main").clientWidth;
  const width = Math.max(340, Math.min(860, room > 700 ? room - 190 : room - 2));
  const height = Math.min(460, width);
  const [left, right, top, bottom] = [72, 16, 14, 48];
  const points = rows.map((row) => ({ row, x: valueIn(row, state.x), y: valueIn(row, state.y) })).filter(({ x, y }) => typeof x === "number" && typeof y === "number");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${state.y} over ${state.x}` });
  byId("points").value = `${count(points.length)} of ${count(data.rows.length)} runs`;
  if (!points.length) {
    picture.append(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no run has both figures"));
    return [picture, []];
  }
  const range = (axis) => [Math.min(...points.map((point) => point[axis])), Math.max(...points.map((point) => point[axis]))];
  const x = scale(range("x"), [left, width - right], state.log);
  const y = scale(range("y"), [height - bottom, top], state.log);
  const size = points.length > 100 ? 3.4 : 4.5;
  for (const tick of x.ticks) {
    picture.append(svg("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: top, y2: height - bottom }), svg("text", { x: x.at(tick), y: height - bottom + 17, "text-anchor": "middle" }, short(tick)));
  }
  for (const tick of y.ticks) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick) }), svg("text", { x: left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  picture.append(
    svg("text", { class: "title", x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }, state.x),
    svg("text", { class: "title", transform: `translate(16 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, state.y),
  );
  const all = fronts(rows);
  const best = new Set(all.flat().map(({ row }) => row));
  if (all.length <= 12) {
    for (const front of all) {
      if (front.length > 1) picture.append(svg("path", { class: "front", d: front.map((point, nth) => `${nth ? "L" : "M"}${x.at(point.x)} ${y.at(point.y)}`).join("") }));
    }
  }
  const categories = [...new Set(data.rows.map((row) => String(valueIn(row, state.color))))];
  const shown = new Set();
  // Those that are best lie on top.
  points.sort((a, b) => best.has(a.row) - best.has(b.row));
  // Points in one place stand side by side around it, as seeds of a sunflower do: none hides another.
  const places = new Map();
  for (const point of points) {
    [point.left, point.top] = [x.at(point.x), y.at(point.y)];
    const key = `${Math.round(point.left / 6)} ${Math.round(point.top / 6)}`;
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(point);
  }
  for (const together of places.values()) {
    if (together.length === 1) continue;
    const radius = 1.3 * size * Math.sqrt(together.length) + size;
    const inside = (at, least, most) => Math.max(least + radius, Math.min(most - radius, at));
    const [cx, cy] = [inside(together[0].left, left, width - right), inside(together[0].top, top, height - bottom)];
    picture.append(svg("circle", { class: "together", cx, cy, r: radius }));
    together.forEach((point, nth) => {
      point.together = together.length;
      const [angle, distance] = [nth * Math.PI * (3 - Math.sqrt(5)), 1.3 * size * Math.sqrt(nth)];
      point.left = cx + distance * Math.cos(angle);
      point.top = cy + distance * Math.sin(angle);
    });
  }
  for (const point of points) {
    const category = categories.indexOf(String(valueIn(point.row, state.color)));
    shown.add(category);
    const node = mark(category, point.left, point.top, best.has(point.row) ? size + 1 : size);
    const text = point.together ? `${told(point.row)}\n(one of ${point.together} runs with about these figures)` : told(point.row);
    node.append(svg("title", {}, text));
    const href = report(point.row);
    const holder = href ? svg("a", { href, target: "_blank", "aria-label": text }, node) : svg("g", {}, node);
    if (best.has(point.row)) holder.setAttribute("class", "best");
    holder.onmouseenter = () => point.row.line?.classList.add("pointed");
    holder.onmouseleave = () => point.row.line?.classList.remove("pointed");
    picture.append(holder);
  }
  picture.append(...names(points, [left, top, width - right, height - bottom]));
  const legend = [...shown].sort((a, b) => a - b).map((at) => element("li", {}, svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(at, 7, 7)), categories[at]));
  return [picture, legend];
}

/** The table, as it is sorted now. */
function table(rows) {
  const sorted = [...rows].sort((a, b) => {
    const [one, other] = [valueIn(a, state.column), valueIn(b, state.column)];
    // What has no figure comes last, whichever way.
    if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
    const order = numeric.has(state.column) ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
    return state.ascending ? order : -order;
  });
  const choose = (column, ascending) => {
    Object.assign(state, { column, ascending });
    show();
    document.querySelector("th[aria-sort] button").focus();
  };
  const cell = (row, column) => {
    const value = valueIn(row, column);
    if (column === "error" || column === "warnings") return element("td", { class: "error", title: value }, value.split("\n")[0]);
    if (column === "design" && report(row)) return element("td", {}, element("a", { href: report(row), target: "_blank" }, value));
    if (column === SPEED_UP) return element("td", { class: "number" }, value === undefined ? "" : `${value.toFixed(2)} ×`);
    if (numeric.has(column)) return element("td", { class: "number" }, typeof value === "number" ? count(value) : "");
    return element("td", { title: value }, value);
  };
  const shown = state.all ? sorted : sorted.slice(0, SHOWN);
  const lines = shown.map((row) => (row.line = element("tr", {}, ...columns.map((column) => cell(row, column)))));
  const head = element("tr", {}, ...columns.map((column) => heading(column, numeric.has(column), state, choose)));
  byId("table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
  byId("more").hidden = shown.length === sorted.length;
  byId("more").textContent = `All ${count(sorted.length)} rows`;
}

function wantedRows() {
  const wanted = filters(state.filter);
  return data.rows.filter((row) => wanted.every((is) => is(row)));
}

function show() {
  const rows = wantedRows();
  matrix(rows);
  table(rows);
  showPicture(rows);
}

function showPicture(rows) {
  const [picture, legend] = draw(rows);
  byId("picture").replaceChildren(picture, element("ul", { class: "legend", "aria-label": state.color }, ...legend));
}

/** Shows the page with this changed. */
function change(part) {
  Object.assign(state, part);
  show();
}

function select(id, label, names) {
  const options = names.map((name) => element("option", { value: name, selected: name === state[id] ? "" : undefined }, name));
  const node = element("select", { id, onchange: () => change({ [id]: node.value }) }, ...options);
  return element("label", {}, `${label} `, node);
}

byId("origin").textContent = `petal ${data.petal}: ${count(data.rows.length)} runs${failed.length ? `, ${count(failed.length)} failed` : ""}${warned.length ? `, ${count(warned.length)} with warnings` : ""}`;
const search = element("input", { id: "filter", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "words, or passes=all cycles<1000", oninput: () => change({ filter: search.value }) });
const log = element("input", { id: "log", type: "checkbox", checked: "", onchange: () => change({ log: log.checked }) });
const more = element("button", { id: "more", type: "button", onclick: () => change({ all: true }) });
byId("main").append(
  element("div", { class: "controls" }, element("label", {}, "Filter ", search), element("output", { id: "points", for: "filter" })),
  element("h2", {}, `${MAIN} by design and pipeline`),
  element("div", { class: "controls" }, select("base", "Compared with", PIPELINES), element("span", { class: "hint" }, "bold: the least of its row")),
  element("div", { class: "box", tabindex: "0", role: "region", "aria-label": `${MAIN} by design and pipeline` }, element("table", { id: "matrix" })),
  element("h2", {}, "Two figures of each run"),
  element("div", { class: "controls" }, select("x", "Across", measures), select("y", "Up", measures), select("color", "Colour", TEXTS), element("label", {}, log, " logarithmic"), element("span", { class: "hint" }, "with an outline: not beaten in both by any run of the same designs and data; in a circle: runs with about the same figures; a point opens its report")),
  element("div", { id: "picture", class: "picture" }),
  element("h2", {}, "All runs"),
  element("div", { class: "controls" }, more),
  element("div", { class: "box" }, element("table", { id: "table" })),
);
show();
let drawn = byId("main").clientWidth;
new ResizeObserver(() => {
  if (byId("main").clientWidth === drawn) return;
  drawn = byId("main").clientWidth;
  showPicture(wantedRows());
}).observe(byId("main"));
showTheme(() => {});
