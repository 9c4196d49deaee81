// The timeline: above, what the cycles of the whole run were; below, a part of it, down to the call
// tree of every single cycle.

const ROW_HEIGHT = 18;
const STRIP = 30;
const AXIS = 20;
const MAX_ROWS = 250;

const timeline = { from: 0, to: data.cycles, trees: null, runs: null, kinds: [], rows: [], gutter: 0 };

/** The run that cycle `cycle` is in. */
function runAt(cycle) {
  const { starts, length } = timeline.runs;
  let [low, high] = [0, length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= cycle) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Calls `take` with what is in each part of the cycles: column, tree (or bin), cycles in both. */
function scan(from, to, columns, take) {
  const width = (to - from) / columns;
  const { bins } = data;
  const start = (at) => (bins ? Math.min(at * bins.width, data.cycles) : timeline.runs.starts[at]);
  const end = bins ? bins.parts.length : timeline.runs.length;
  for (let at = bins ? Math.floor(from / bins.width) : runAt(from); at < end && start(at) < to; at++) {
    const item = bins ? at : timeline.runs.trees[at];
    let left = Math.max(start(at), from);
    const right = Math.min(start(at + 1), to);
    for (let column = Math.floor((left - from) / width); left < right && column < columns; column++) {
      const until = column === columns - 1 ? right : Math.min(from + (column + 1) * width, right);
      if (until > left) take(column, item, until - left);
      left = Math.max(left, until);
    }
  }
}

/** Cycles of each class in each column. */
function classSums(from, to, columns) {
  const sums = new Float64Array(columns * classes.length);
  scan(from, to, columns, (column, item, cycles) => {
    const at = column * classes.length;
    if (!data.bins) sums[at + timeline.kinds[item]] += cycles;
    else {
      const { width, parts } = data.bins;
      const whole = Math.min(width, data.cycles - item * width);
      parts[item].forEach((part, kind) => (sums[at + kind] += (part * cycles) / whole));
    }
  });
  return sums;
}

/** For each node that is active, the part of each column in which it is. */
function coverage(from, to, columns) {
  const active = new Map();
  const width = (to - from) / columns;
  scan(from, to, columns, (column, tree, cycles) => {
    for (const node of timeline.trees[tree].nodes) {
      let row = active.get(node);
      if (!row) active.set(node, (row = new Float32Array(columns)));
      row[column] += cycles / width;
    }
  });
  return active;
}

/** A colour of the style sheet as a canvas knows it. */
function color(value) {
  const probe = byId("overview");
  probe.style.color = value;
  return getComputedStyle(probe).color;
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
  const colors = classes.map((found) => color(found.color));
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
  const height = 44;
  const context = prepare(byId("overview"), height);
  const width = byId("overview").clientWidth;
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

/** The nodes of `active` in preorder, with their depths. */
function rowsOf(active) {
  const rows = [];
  const visit = (node, depth) => {
    if (!active.has(node)) return;
    rows.push({ node, depth });
    for (const child of childrenOf[node]) visit(child, depth + 1);
  };
  visit(0, 0);
  return rows;
}

function drawTracks() {
  const { from, to } = timeline;
  const canvas = byId("tracks");
  const outer = canvas.parentElement.clientWidth;
  timeline.gutter = Math.min(260, Math.floor(outer * 0.35));
  const width = outer - timeline.gutter;
  const columns = Math.max(1, Math.min(Math.floor(width), to - from));
  const active = data.bins ? new Map() : coverage(from, to, columns);
  const all = rowsOf(active);
  timeline.rows = all.slice(0, MAX_ROWS);
  const context = prepare(canvas, AXIS + STRIP + timeline.rows.length * ROW_HEIGHT + 4);
  const step = width / columns;
  drawAxis(context, timeline.gutter, width);
  drawClasses(context, classSums(from, to, columns), columns, timeline.gutter, AXIS, width, STRIP - 4);
  context.fillStyle = color("var(--text)");
  context.fillText("what cycles are", 4, AXIS + STRIP / 2 - 2);
  timeline.rows.forEach((row, nth) => drawRow(context, row, AXIS + STRIP + nth * ROW_HEIGHT, active.get(row.node), step, outer));
  drawMarker(context, width);
  const parts = [];
  if (all.length > MAX_ROWS) parts.push(`${count(all.length - MAX_ROWS)} more frames are below: zoom in to see them.`);
  if (data.bins) {
    parts.push(
      `The order of this run is too long for the page: it ends at parts of ${counted(data.bins.width, "cycle")}. ` +
        "petal trace and petal timeline show every cycle.",
    );
  }
  byId("timeline-note").textContent = parts.join(" ");
  const spread = `${count(from)} to ${count(to - 1)}`;
  byId("window").textContent = `cycles ${spread} of ${count(data.cycles)}`;
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

function drawRow(context, { node, depth }, top, covered, step, outer) {
  const { kind, label } = frameOf(node);
  if (selection.frames.has(data.nodes.frames[node])) {
    context.fillStyle = color("var(--chosen)");
    context.fillRect(0, top, outer, ROW_HEIGHT);
  }
  context.save();
  context.beginPath();
  context.rect(0, top, timeline.gutter - 6, ROW_HEIGHT);
  context.clip();
  context.fillStyle = color("var(--text)");
  context.fillText(label, 4 + depth * 10, top + ROW_HEIGHT / 2);
  context.restore();
  context.fillStyle = color(`var(--${kind})`);
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

/** Shows the cycles from `from` to before `to`, as far as there are such. */
function showWindow(from, to) {
  const length = Math.max(1, Math.min(data.cycles, Math.round(to - from)));
  timeline.from = Math.max(0, Math.min(data.cycles - length, Math.round(from)));
  timeline.to = timeline.from + length;
  drawOverview();
  drawTracks();
}

/** Zooms around the chosen cycle, or the middle. */
function zoomBy(factor, around = selection.cycle) {
  const { from, to } = timeline;
  const inside = around !== null && around >= from && around < to;
  const center = inside ? around + 0.5 : (from + to) / 2;
  showWindow(center - (center - from) * factor, center - (center - to) * factor);
}

/** The cycle under the pointer in the part that is shown; none over the names. */
function cycleAt(event) {
  const canvas = byId("tracks");
  const x = event.clientX - canvas.getBoundingClientRect().left - timeline.gutter;
  if (x < 0) return null;
  const cycle = timeline.from + Math.floor((x / (canvas.clientWidth - timeline.gutter)) * (timeline.to - timeline.from));
  return Math.min(cycle, timeline.to - 1);
}

function clickTracks(event) {
  const cycle = cycleAt(event);
  if (cycle !== null) {
    chooseCycle(cycle);
    return;
  }
  const nth = Math.floor((event.offsetY - AXIS - STRIP) / ROW_HEIGHT);
  const row = timeline.rows[nth];
  if (row) chooseFrame(data.nodes.frames[row.node]);
}

function timelineKey(event) {
  const cycle = selection.cycle ?? timeline.from;
  const page = Math.max(1, Math.round((timeline.to - timeline.from) / 10));
  const to = {
    ArrowLeft: cycle - 1,
    ArrowRight: selection.cycle === null ? cycle : cycle + 1,
    ArrowDown: cycle - 1,
    ArrowUp: cycle + 1,
    PageUp: cycle - page,
    PageDown: cycle + page,
    Home: 0,
    End: data.cycles - 1,
  }[event.key];
  if (to !== undefined) chooseCycle(Math.max(0, Math.min(data.cycles - 1, to)));
  else if (event.key === "+" || event.key === "=") zoomBy(0.5);
  else if (event.key === "-") zoomBy(2);
  else if (event.key === "0") showWindow(0, data.cycles);
  else return;
  event.preventDefault();
}

function dragOverview(event) {
  const canvas = byId("overview");
  const rect = canvas.getBoundingClientRect();
  const at = (moved) => Math.max(0, Math.min(1, (moved.clientX - rect.left) / rect.width)) * data.cycles;
  const first = at(event);
  canvas.setPointerCapture(event.pointerId);
  const move = (moved) => showWindow(Math.floor(Math.min(first, at(moved))), Math.ceil(Math.max(first, at(moved))));
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", move), { once: true });
}

/** Goes to the first cycle of the next stretch of overhead. */
function nextOverhead() {
  const { starts, trees, length } = timeline.runs;
  const overhead = (run) => classes[timeline.kinds[trees[run]]].overhead;
  const first = selection.cycle === null ? 0 : runAt(selection.cycle) + 1;
  for (let run = first; run < length; run++) if (overhead(run)) return chooseCycle(starts[run]);
  for (let run = 0; run < first; run++) if (overhead(run)) return chooseCycle(starts[run]);
}

/** The call tree of the chosen cycle, and what it is charged to. */
function showTree() {
  const box = byId("tree");
  const { cycle } = selection;
  if (cycle === null || data.bins) {
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
    element("h3", {}, `Cycle ${count(cycle)}${same}: `, reasonLink(tree.class)),
    element("ul", {}, ...lines),
  );
}

function treeLine(node, activity, lost) {
  const { kind } = frameOf(node);
  const pick = element("button", { type: "button", class: "link", onclick: () => chooseFrame(data.nodes.frames[node]) }, fullName(frameOf(node)));
  const line = element("li", {}, element("span", { class: `chip ${kind}`, "aria-hidden": "true" }), pick);
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

function showCycle() {
  const { cycle } = selection;
  const canvas = byId("tracks");
  byId("cycle").value = cycle ?? "";
  canvas.setAttribute("aria-valuenow", cycle ?? timeline.from);
  const text = cycle === null ? "no cycle chosen" : `cycle ${cycle}`;
  const code = cycle === null || data.bins ? null : timeline.trees[timeline.runs.trees[runAt(cycle)]].class;
  canvas.setAttribute("aria-valuetext", code === null ? text : `${text}, ${meaning(code)}`);
  showTree();
  const { from, to } = timeline;
  if (cycle !== null && (cycle < from || cycle >= to)) showWindow(cycle - (to - from) / 2, cycle + (to - from) / 2);
  else drawTracks();
}

async function showTimeline() {
  if (!data.cycles) {
    byId("timeline").replaceChildren(element("h2", {}, "Timeline"), element("p", {}, "The run has no cycles."));
    return;
  }
  if (!data.bins) {
    [timeline.trees, timeline.runs] = await Promise.all([readTrees(), readRuns()]);
    timeline.kinds = timeline.trees.map((tree) => kindOf(tree.class));
  }
  const canvas = byId("tracks");
  canvas.setAttribute("aria-valuemax", data.cycles - 1);
  canvas.addEventListener("click", clickTracks);
  canvas.addEventListener("keydown", timelineKey);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 0.8 : 1.25, cycleAt(event));
  });
  byId("overview").addEventListener("pointerdown", dragOverview);
  byId("zoom-in").addEventListener("click", () => zoomBy(0.5));
  byId("zoom-out").addEventListener("click", () => zoomBy(2));
  byId("zoom-whole").addEventListener("click", () => showWindow(0, data.cycles));
  byId("next-overhead").addEventListener("click", nextOverhead);
  byId("next-overhead").disabled = Boolean(data.bins) || !classes.some(({ overhead, cycles }) => overhead && cycles);
  byId("cycle").max = data.cycles - 1;
  byId("cycle").addEventListener("change", ({ target }) => {
    const cycle = Math.floor(target.valueAsNumber);
    if (cycle >= 0 && cycle < data.cycles) chooseCycle(cycle);
  });
  new ResizeObserver(() => showWindow(timeline.from, timeline.to)).observe(byId("rows"));
  onSelection(showCycle);
}
