// The timeline: above, what the cycles of the whole run were; below, a part of it, down to the call
// tree of every single cycle.

const ROW_HEIGHT = 18;
const STRIP = 30;
const AXIS = 20;
const MAX_ROWS = 600;

const timeline = { from: 0, to: data.cycles, trees: null, runs: null, order: null, kinds: [], rows: [], width: 0, gutter: 0, indent: 0, fills: new Map(), area: null };

/** A chosen cycle is shown with so many before and after it: more where the page has no order within parts of the run. */
const AROUND = data.bins ? Math.max(50, 4 * data.bins.width) : 50;

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

/** Calls `take` once for each tree (or bin) in each part of the cycles: column, tree, cycles in both. */
function scan(from, to, columns, take) {
  const width = (to - from) / columns;
  const { starts, trees, length, count } = timeline.order;
  // What is in the current column: a run may come back to a tree a thousand times in it.
  const cycles = new Float64Array(count);
  let [column, present] = [0, []];
  const next = () => {
    for (const tree of present) {
      take(column, tree, cycles[tree]);
      cycles[tree] = 0;
    }
    present = [];
    column++;
  };
  for (let at = data.bins ? Math.floor(from / data.bins.width) : runAt(from); at < length && starts[at] < to; at++) {
    const tree = trees[at];
    let left = Math.max(starts[at], from);
    const right = Math.min(starts[at + 1], to);
    while (column < columns - 1 && left >= from + (column + 1) * width) next();
    while (left < right) {
      const until = column === columns - 1 ? right : Math.min(from + (column + 1) * width, right);
      if (until > left) {
        if (!cycles[tree]) present.push(tree);
        cycles[tree] += until - left;
        left = until;
      }
      if (left < right) next();
    }
  }
  next();
}

/** A function of a window that remembers its last values: the same window is drawn again and again. */
function remembering(compute, most) {
  const values = new Map();
  return (...window) => {
    const key = window.join();
    const value = values.get(key) ?? compute(...window);
    values.delete(key);
    values.set(key, value);
    if (values.size > most) values.delete(values.keys().next().value);
    return value;
  };
}

/** Cycles of each class in each column: of the whole run, and of what is shown. */
const classSums = remembering((from, to, columns) => {
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
}, 3);

/** For each node that is active, the part of each column in which it is. */
const coverage = remembering((from, to, columns) => {
  const active = new Map();
  const width = (to - from) / columns;
  scan(from, to, columns, (column, tree, cycles) => {
    for (const node of timeline.trees[tree].active) {
      let row = active.get(node);
      if (!row) {
        row = new Float32Array(columns);
        active.set(node, row);
      }
      row[column] += cycles / width;
    }
  });
  return active;
}, 1);

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

/** Moves what is shown by a part of its length. */
function pan(share) {
  const by = Math.sign(share) * Math.max(1, Math.abs(share) * (timeline.to - timeline.from));
  showWindow(timeline.from + by, timeline.to + by);
}

/** Zooms to the area, or else to some cycles around the chosen one. */
function zoomToChosen() {
  const { area } = timeline;
  const { cycle } = selection;
  if (area) showWindow(area[0], area[1]);
  else if (cycle !== null) showAround(cycle);
}

/** Shows a cycle with those around it. */
const showAround = (cycle) => showWindow(cycle - AROUND, cycle + AROUND);

/** Keys of Perfetto, and some for the cycle that is chosen. */
function timelineKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
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
  const act = {
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    0: () => showWindow(0, data.cycles),
    w: () => zoomBy(0.8),
    s: () => zoomBy(1.25),
    a: () => pan(-0.1),
    d: () => pan(0.1),
    f: zoomToChosen,
  }[event.key.toLowerCase()];
  if (to !== undefined) chooseCycle(Math.max(0, Math.min(data.cycles - 1, to)));
  else if (act) act();
  else return;
  event.preventDefault();
}

function wheelTracks(event) {
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (event.ctrlKey) zoomBy(event.deltaY < 0 ? 0.8 : 1.25, cycleAt(event));
  else if (sideways) pan(sideways / 1000);
  else return;
  event.preventDefault();
}

/** A drag selects an area; with the Shift key it moves what is shown. A press without one is a click. */
function dragTracks(event) {
  const first = cycleAt(event);
  if (event.button !== 0 || first === null) {
    if (event.button === 0) clickTracks(event);
    return;
  }
  const canvas = byId("tracks");
  const { from, to } = timeline;
  const perPixel = (to - from) / (canvas.clientWidth - timeline.gutter);
  let dragged = false;
  canvas.setPointerCapture(event.pointerId);
  const move = (moved) => {
    const by = moved.clientX - event.clientX;
    dragged ||= Math.abs(by) > 4;
    if (!dragged) return;
    if (event.shiftKey) showWindow(from - by * perPixel, to - by * perPixel);
    else chooseArea(first, cycleAt(moved) ?? timeline.from);
  };
  const stop = (ended) => {
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointercancel", stop);
    if (dragged || ended.type === "pointercancel") return;
    chooseArea();
    clickTracks(event);
  };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", stop, { once: true });
  canvas.addEventListener("pointercancel", stop, { once: true });
}

/** Selects the cycles from one to another, and tells what they were; none without cycles. */
function chooseArea(one, other) {
  timeline.area = one === undefined ? null : [Math.min(one, other), Math.max(one, other) + 1];
  const note = byId("area");
  note.hidden = !timeline.area;
  if (timeline.area) {
    const [from, to] = timeline.area;
    const sums = classSums(from, to, 1);
    const parts = classes.flatMap(({ name }, at) => {
      const cycles = Math.round(sums[at]);
      return cycles ? [`${name} ${count(cycles)}`] : [];
    });
    note.textContent = `cycles ${count(from)} to ${count(to - 1)}: ${counted(to - from, "cycle")}; ${parts.join(", ")}`;
  }
  drawTracks();
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

/** The first run in which one of these nodes is active; -1 if there is none. */
function firstRun(nodes) {
  if (!timeline.trees || !nodes.size) return -1;
  const has = timeline.trees.map((tree) => tree.active.some((node) => nodes.has(node)));
  return timeline.runs.trees.findIndex((tree) => has[tree]);
}

/** The chosen nodes of call trees. */
const chosenNodes = (wanted) =>
  new Set(data.nodes.frames.flatMap((frame, node) => (selection.frames.has(frame) && wanted(node) ? [node] : [])));

/** Buttons that lead to the cycle in which what is chosen is active first, and to its first overhead. */
function firstCycles() {
  const button = (name, wanted) => {
    const run = firstRun(chosenNodes(wanted));
    if (run < 0) return [];
    const cycle = timeline.runs.starts[run];
    const go = () => {
      showView("timeline");
      chooseCycle(cycle);
    };
    return [element("button", { type: "button", onclick: go }, `${name}: cycle ${count(cycle)}`)];
  };
  const isOverhead = (node) => frameOf(node).kind === "overhead";
  return [...button("First", (node) => !isOverhead(node)), ...button("First overhead", isOverhead)];
}

/** Shows the rows of what is chosen: those of other cycles, if nothing of it is in sight. */
function revealRows() {
  const chosen = ({ nodes }) => nodes.some((node) => selection.frames.has(data.nodes.frames[node]));
  if (!timeline.rows.some(chosen)) {
    const run = firstRun(chosenNodes(() => true));
    if (run < 0) return;
    const half = (timeline.to - timeline.from) / 2;
    showWindow(timeline.runs.starts[run] - half, timeline.runs.starts[run] + half);
  }
  revealRowAt(timeline.rows.findIndex(chosen));
}

/** Scrolls to a row of the timeline. */
function revealRowAt(nth) {
  const box = byId("rows");
  const top = AXIS + STRIP + nth * ROW_HEIGHT;
  const inSight = top >= box.scrollTop && top + ROW_HEIGHT <= box.scrollTop + box.clientHeight;
  if (nth >= 0 && !inSight) box.scrollTop = top - box.clientHeight / 3;
}

/** Scrolls to what is innermost in the chosen cycle. */
function revealCycle() {
  const { cycle } = selection;
  if (cycle === null || data.bins) return;
  const active = new Set(timeline.trees[timeline.runs.trees[runAt(cycle)]].active);
  revealRowAt(timeline.rows.findLastIndex(({ node }) => active.has(node)));
}

/** Goes to the first cycle of the next stretch of overhead. */
function nextOverhead() {
  const { starts, trees, length } = timeline.runs;
  const overhead = (run) => classes[timeline.kinds[trees[run]]].overhead;
  const first = selection.cycle === null ? 0 : runAt(selection.cycle) + 1;
  for (let run = first; run < length; run++) if (overhead(run)) return chooseCycle(starts[run]);
  for (let run = 0; run < first; run++) if (overhead(run)) return chooseCycle(starts[run]);
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
  const length = to - from;
  if (cycle !== null && length > 4 * AROUND) showAround(cycle);
  else if (cycle !== null && (cycle < from || cycle >= to)) showWindow(cycle - length / 2, cycle + length / 2);
  else drawTracks();
  revealCycle();
}

async function loadTimeline() {
  if (!data.cycles) return;
  if (data.bins) {
    const { width, parts } = data.bins;
    const starts = Float64Array.from({ length: parts.length + 1 }, (_, at) => Math.min(at * width, data.cycles));
    timeline.order = { starts, trees: parts.map((_, at) => at), length: parts.length, count: parts.length };
    return;
  }
  [timeline.trees, timeline.runs] = await Promise.all([readTrees(), readRuns()]);
  timeline.kinds = timeline.trees.map((tree) => kindOf(tree.class));
  timeline.order = { ...timeline.runs, count: timeline.trees.length };
}

function showTimeline() {
  if (!data.cycles) {
    byId("timeline").replaceChildren(element("p", {}, "The run has no cycles."));
    return;
  }
  const canvas = byId("tracks");
  canvas.setAttribute("aria-valuemax", data.cycles - 1);
  canvas.addEventListener("pointerdown", dragTracks);
  canvas.addEventListener("wheel", wheelTracks);
  byId("timeline").addEventListener("keydown", (event) => {
    if (!event.target.closest("input, button")) timelineKey(event);
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
  showWindow(0, data.cycles);
  const resized = () => {
    if (byId("rows").clientWidth === timeline.width) return;
    showWindow(timeline.from, timeline.to);
    if (selection.cycle !== null) revealCycle();
    else if (selection.frames.size) revealRows();
  };
  new ResizeObserver(resized).observe(byId("rows"));
  onSelection(() => {
    showCycle();
    if (selection.frames.size && selection.cycle === null) revealRows();
  });
  onLanguage(drawTracks);
}
