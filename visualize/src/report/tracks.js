// How the timeline is drawn, and the call tree of the chosen cycle.

/** A colour of the style sheet as a canvas knows it. */
function color(value) {
  const probe = byId("overview");
  probe.style.color = value;
  return getComputedStyle(probe).color;
}

/** What a canvas is filled with for a paint: its colour, with stripes for overhead. */
function fillOf(key) {
  if (timeline.fills.has(key)) return timeline.fills.get(key);
  const { color, hatch } = data.paints.find((paint) => paint.key === key);
  let fill = color;
  if (hatch) {
    const [angle, period] = hatch;
    const tile = element("canvas", { width: period, height: period });
    const context = tile.getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, period, period);
    context.fillStyle = "rgb(255 255 255 / 50%)";
    context.fillRect(0, 0, 2, period);
    fill = context.createPattern(tile, "repeat");
    fill.setTransform(new DOMMatrix().rotate(angle - 90));
  }
  timeline.fills.set(key, fill);
  return fill;
}

/** A canvas of this size in CSS pixels, cleared, and its context. */
function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.parentElement.clientWidth;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  return context;
}

/** Stacked bars: useful cycles below, overhead hatched above. */
function drawClasses(context, sums, columns, left, top, width, height) {
  const step = width / columns;
  const colors = classes.map(({ paint }) => fillOf(paint));
  const stroke = color("var(--page)");
  for (let column = 0; column < columns; column++) {
    const part = sums.subarray(column * classes.length, (column + 1) * classes.length);
    const whole = part.reduce((sum, cycles) => sum + cycles, 0);
    let bottom = top + height;
    part.forEach((cycles, kind) => {
      const high = whole ? (cycles / whole) * height : 0;
      context.fillStyle = colors[kind];
      context.fillRect(left + column * step, bottom - high, step + 0.3, high);
      bottom -= high;
    });
    if (step > 6) {
      context.strokeStyle = stroke;
      context.strokeRect(left + column * step, top, step, height);
    }
  }
}

function drawOverview() {
  const height = 36;
  const width = byId("overview").parentElement.clientWidth;
  if (!width) return;
  const context = prepare(byId("overview"), height);
  const columns = Math.max(1, Math.min(Math.floor(width), data.cycles));
  drawClasses(context, classSums(0, data.cycles, columns), columns, 0, 0, width, height);
  const x = (cycle) => (cycle / data.cycles) * width;
  const [left, right] = [x(timeline.from), x(timeline.to)];
  context.globalAlpha = 0.6;
  context.fillStyle = color("var(--page)");
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = color("var(--text)");
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(2, right - left - 2), height - 2);
}

/** The nodes of `active` in preorder, with their depths: one row for a call, as in the flame graph. Each has the nodes that it stands for. */
function rowsOf(active) {
  const rows = [];
  const isFolded = !byId("links").checked;
  const visit = (node, depth, links) => {
    if (!active.has(node)) return;
    const below = childrenOf[node].filter((child) => active.has(child));
    if (isFolded && below.length === 1 && calyxStacks.isLink(node) && data.nodes.active[node] === data.nodes.active[below[0]]) {
      visit(below[0], depth, [...links, node]);
      return;
    }
    rows.push({ node, depth, nodes: [...links, node] });
    for (const child of below) visit(child, depth + 1, []);
  };
  visit(0, 0, []);
  return rows;
}

function drawTracks() {
  const { from, to } = timeline;
  const canvas = byId("tracks");
  const outer = canvas.parentElement.clientWidth;
  timeline.width = outer;
  byId("window").textContent = `cycles ${count(from)} to ${count(to - 1)} of ${count(data.cycles)}`;
  // Not in sight: it is drawn when it is.
  if (!outer) return;
  timeline.gutter = Math.min(260, Math.floor(outer * 0.35));
  const width = outer - timeline.gutter;
  const columns = Math.max(1, Math.min(Math.floor(width), to - from));
  const active = data.bins ? new Map() : coverage(from, to, columns);
  const all = rowsOf(active);
  timeline.rows = all.slice(0, MAX_ROWS);
  // Deep trees leave room for names.
  const deepest = Math.max(1, ...timeline.rows.map(({ depth }) => depth));
  timeline.indent = Math.min(10, (timeline.gutter / 2 - 4) / deepest);
  const context = prepare(canvas, AXIS + STRIP + timeline.rows.length * ROW_HEIGHT + 4);
  const step = width / columns;
  drawAxis(context, timeline.gutter, width);
  drawClasses(context, classSums(from, to, columns), columns, timeline.gutter, AXIS, width, STRIP - 4);
  context.fillStyle = color("var(--text)");
  context.fillText("what cycles are", 4, AXIS + STRIP / 2 - 2);
  timeline.rows.forEach((row, nth) => drawRow(context, row, AXIS + STRIP + nth * ROW_HEIGHT, active.get(row.node), step, outer));
  drawArea(context, width);
  drawMarker(context, width);
  const parts = [];
  const folded = data.bins ? 0 : data.nodes.parents.length - active.size;
  if (folded && selection.cycle !== null) parts.push(`${counted(folded, "row")} without activity in these cycles ${folded === 1 ? "is" : "are"} folded.`);
  if (all.length > MAX_ROWS) parts.push(`${count(all.length - MAX_ROWS)} more frames are below: zoom in to see them.`);
  if (data.bins) {
    parts.push(
      `The order of this run is too long for the page: it ends at parts of ${counted(data.bins.width, "cycle")}. ` +
        "petal trace and petal timeline show every cycle.",
    );
  }
  byId("timeline-note").textContent = parts.join(" ");
}

function drawAxis(context, left, width) {
  const { from, to } = timeline;
  const wanted = Math.max(2, width / 90);
  let unit = 10 ** Math.floor(Math.log10(Math.max(1, (to - from) / wanted)));
  for (const factor of [2, 2.5, 2]) if ((to - from) / unit > wanted) unit = Math.max(1, unit * factor);
  unit = Math.ceil(unit);
  context.fillStyle = color("var(--muted)");
  for (let cycle = Math.ceil(from / unit) * unit; cycle < to; cycle += unit) {
    const x = left + ((cycle - from) / (to - from)) * width;
    context.fillRect(x, AXIS - 5, 1, 5);
    if (x + 50 < left + width || x === left) context.fillText(count(cycle), x + 2, AXIS - 11);
  }
}

function drawRow(context, { node, nodes, depth }, top, covered, step, outer) {
  const label = onBox(nameInWords(frameOf(node)));
  if (nodes.some((other) => selection.frames.has(data.nodes.frames[other]))) {
    context.fillStyle = color("var(--chosen)");
    context.fillRect(0, top, outer, ROW_HEIGHT);
  }
  context.fillStyle = color("var(--text)");
  const left = 4 + depth * timeline.indent;
  context.fillText(fitted(context, label, timeline.gutter - 6 - left), left, top + ROW_HEIGHT / 2);
  context.fillStyle = fillOf(paintOf(node));
  for (let column = 0; column < covered.length; ) {
    const share = covered[column];
    let end = column + 1;
    while (end < covered.length && Math.abs(covered[end] - share) < 0.02) end++;
    context.globalAlpha = share ? 0.2 + 0.8 * Math.min(1, share) : 0;
    context.fillRect(timeline.gutter + column * step, top + 2, (end - column) * step, ROW_HEIGHT - 4);
    column = end;
  }
  context.globalAlpha = 1;
}

/** As much of a text as there is room for. */
function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) least = middle;
    else most = middle - 1;
  }
  return `${text.slice(0, least)}…`;
}

/** The area that a drag selected. */
function drawArea(context, width) {
  if (!timeline.area) return;
  const { from, to } = timeline;
  const x = (cycle) => timeline.gutter + ((Math.max(from, Math.min(to, cycle)) - from) / (to - from)) * width;
  const [left, right] = timeline.area.map(x);
  context.globalAlpha = 0.25;
  context.fillStyle = color("var(--link)");
  context.fillRect(left, 0, right - left, byId("tracks").clientHeight);
  context.globalAlpha = 1;
}

function drawMarker(context, width) {
  const { from, to } = timeline;
  const { cycle } = selection;
  if (cycle === null || cycle < from || cycle >= to) return;
  const step = width / (to - from);
  context.strokeStyle = color("var(--text)");
  context.lineWidth = 2;
  const left = timeline.gutter + (cycle - from) * step;
  context.strokeRect(left, AXIS - 4, Math.max(1, step), byId("tracks").clientHeight - AXIS + 2);
}

/** The call tree of the chosen cycle, and what it is charged to. */
function showTree() {
  const box = byId("tree");
  const { cycle } = selection;
  box.hidden = cycle === null || Boolean(data.bins);
  if (box.hidden) {
    box.replaceChildren();
    return;
  }
  const run = runAt(cycle);
  const [start, end] = [timeline.runs.starts[run], timeline.runs.starts[run + 1]];
  const tree = timeline.trees[timeline.runs.trees[run]];
  const same = end - start > 1 ? ` (the same from ${count(start)} to ${count(end - 1)})` : "";
  // The cycle is charged to the first cell that only moves control along, if nothing works.
  const charged = tree.activities.findIndex((activity) => activity === tree.class && activity > 1);
  const lines = tree.nodes.map((node, at) => treeLine(node, tree.activities[at], at === charged));
  box.replaceChildren(
    element("h2", {}, `Cycle ${count(cycle)}${same}: `, reasonLink(tree.class)),
    element("ul", {}, ...lines),
  );
}

function treeLine(node, activity, lost) {
  const pick = element("button", { type: "button", class: "link", onclick: () => chooseFrame(data.nodes.frames[node]) }, fullName(frameOf(node)));
  const line = element("li", {}, element("span", { class: `chip paint-${paintOf(node)}`, "aria-hidden": "true" }), pick);
  line.style.setProperty("--depth", String(pathOf(node).length - 1));
  if (activity > 1) line.append(" ← ", reasonLink(activity, lost));
  return line;
}

/** What a code means, with a link to the line that is charged. */
function reasonLink(code, lost) {
  const place = data.reasons[code - 2]?.place;
  if (!place) return element("span", {}, meaning(code, lost));
  return element("button", { type: "button", class: "link", onclick: () => choosePlace(place) }, meaning(code, lost));
}
