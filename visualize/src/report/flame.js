// The flame graph: the call trees of all cycles laid on top of each other. A frame is as wide as
// the cycles that it was active in.

const FRAME_HEIGHT = 20;
/** A chosen frame is at least so many pixels wide. */
const LEGIBLE = 60;

/** The nodes below each node, as the timeline orders them: by when they first ran. */
const childrenOf = data.nodes.parents.map(() => []);
data.nodes.parents.forEach((parent, node) => {
  if (parent !== node) childrenOf[parent].push(node);
});

const frameOf = (node) => data.frames[data.nodes.frames[node]];

/** What the colour of a node means; a primitive has that of what it works for, paler. */
function paintOf(node) {
  const { paint } = frameOf(node);
  if (paint) return paint;
  return paintOf(data.nodes.parents[node]) === "conditions" ? "conditions-primitive" : "computation-primitive";
}

/** A frame's name with the first words of its statement. */
const shownName = (frame) => (frame.words ? `${fullName(frame)} ${frame.words}` : fullName(frame));

/** The line of the source that a frame stands for. */
function sourceText({ places: [place] }) {
  return place ? (data.files[place[0]].lines[place[1] - 1] ?? "").trim() : "";
}

/** What a search in the flame graph looks at. */
function searched(frame) {
  const keyword = frame.label.split("@")[0];
  return frame.words ? [shownName(frame), `${keyword} ${frame.words}`] : [shownName(frame)];
}

/** How often a frame became active, as the tables have it. */
function timesOf({ kind, rows }) {
  const wanted = { cell: "cells", group: "groups", control: "control" }[kind];
  const [at, row] = rows.find(([at]) => data.tables[at].name === wanted) ?? [];
  if (at === undefined) return "";
  const { columns, rows: values } = data.tables[at];
  const column = columns.findIndex(([title]) => title.startsWith("times "));
  return `${columns[column][0].replace("times ", "")} ${counted(values[row][column], "time")}`;
}

/** The nodes from the root to `node`. */
function pathOf(node) {
  const parent = data.nodes.parents[node];
  return parent === node ? [node] : [...pathOf(parent), node];
}

const flame = { weights: [], zoomed: 0, matches: null, width: 0 };

function weigh() {
  const weights = [...data.nodes[byId("weighting").value]];
  for (let node = weights.length - 1; node > 0; node--) weights[data.nodes.parents[node]] += weights[node];
  flame.weights = weights;
}

/** Weight of the outermost frames for which `matches` holds. */
function weightOf(matches, node = 0) {
  if (!data.nodes.parents.length) return 0;
  if (matches(node)) return flame.weights[node];
  return childrenOf[node].reduce((sum, child) => sum + weightOf(matches, child), 0);
}

const shareText = (weight) =>
  `${counted(Math.round(weight * 100) / 100, "cycle")}, ${percent(weight, flame.weights[0])}`;

function detail(node) {
  const frame = frameOf(node);
  const place = frame.places.length ? `, ${placeName(frame.places[0])}` : "";
  const active = `active in ${counted(data.nodes.active[node], "cycle")}`;
  const parts = [shareText(flame.weights[node]), active, timesOf(frame), sourceText(frame)].filter(Boolean);
  byId("frame-detail").textContent = `${fullName(frame)} (${frame.kind}${place}): ${parts.join("; ")}`;
}

function drawFlame() {
  const box = byId("frames");
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.node : null;
  const width = box.clientWidth;
  flame.width = width;
  const path = flame.weights.length ? pathOf(flame.zoomed) : [];
  const boxes = [];
  let deepest = 0;
  let narrow = 0;
  const put = (node, depth, left, share) => {
    if (share * width < 1) {
      narrow += flame.weights[node] > 0 ? 1 : 0;
      return;
    }
    deepest = Math.max(deepest, depth);
    boxes.push(frameBox(node, depth, left, share, path));
    if (depth < path.length - 1) put(path[depth + 1], depth + 1, 0, 1);
    else {
      const isOverhead = (child) => Number(frameOf(child).kind === "overhead");
      const order = (a, b) => isOverhead(a) - isOverhead(b) || (frameOf(a).label < frameOf(b).label ? -1 : 1);
      for (const child of [...childrenOf[node]].sort(order)) {
        const part = flame.weights[child] / flame.weights[flame.zoomed] || 0;
        put(child, depth + 1, left, part);
        left += part;
      }
    }
  };
  if (path.length) put(0, 0, 0, 1);
  box.replaceChildren(...boxes);
  box.style.height = `${(deepest + 1) * FRAME_HEIGHT}px`;
  byId("unzoom").disabled = flame.zoomed === 0;
  const stop = box.querySelector(`[data-node="${focused ?? flame.zoomed}"]`) ?? boxes[0];
  stop?.setAttribute("tabindex", "0");
  if (focused !== null) stop?.focus({ preventScroll: true });
  else if (!path.length) byId("frame-detail").textContent = "The run has no cycles.";
  else if (narrow) byId("frame-detail").textContent = `${counted(narrow, "frame")} narrower than a pixel: zoom in to see them.`;
  else detail(flame.zoomed);
}

function frameBox(node, depth, left, share, path) {
  const { kind } = frameOf(node);
  const box = element(
    "div",
    {
      class: `frame paint-${paintOf(node)}`,
      role: "treeitem",
      tabindex: "-1",
      "data-node": node,
      "aria-level": depth + 1,
      "aria-selected": selection.frames.has(data.nodes.frames[node]),
      "aria-label": `${shownName(frameOf(node))}, ${kind}, ${shareText(flame.weights[node])}`,
    },
    shownName(frameOf(node)),
  );
  if (depth < path.length - 1) box.classList.add("above");
  if (flame.matches?.(node)) box.classList.add("match");
  box.style.top = `${depth * FRAME_HEIGHT}px`;
  box.style.left = `${left * 100}%`;
  box.style.width = `${share * 100}%`;
  return box;
}

function zoomTo(node) {
  flame.zoomed = node;
  drawFlame();
}

/** Zooms so that the widest of these nodes can be seen, and scrolls to it. */
function revealFrames(chosen) {
  const nodes = data.nodes.frames.flatMap((_, node) => (chosen(node) && flame.weights[node] > 0 ? [node] : []));
  if (!nodes.length) return;
  const widest = nodes.reduce((best, node) => (flame.weights[node] > flame.weights[best] ? node : best));
  const inside = flame.zoomed === widest || pathOf(widest).includes(flame.zoomed);
  const wide = (node) => (flame.weights[widest] / flame.weights[node]) * byId("frames").clientWidth >= LEGIBLE;
  if (!inside || !wide(flame.zoomed)) flame.zoomed = pathOf(widest).find(wide) ?? widest;
  drawFlame();
  const box = byId("frames").querySelector(`[data-node="${widest}"]`);
  if (box) reveal(byId("frames-box"), box);
}

function search() {
  const wanted = byId("search").value.toLowerCase();
  const found = (frame) => searched(frame).some((text) => text.toLowerCase().includes(wanted));
  flame.matches = wanted ? (node) => found(frameOf(node)) : null;
  const weight = flame.matches ? weightOf(flame.matches) : 0;
  byId("matches").textContent = flame.matches ? `matched: ${shareText(weight)}` : "";
  drawFlame();
}

/** Where an arrow key leads to: up and down the tree, or to the next box of the same depth. */
function neighbour(box, key) {
  const all = [...byId("frames").children];
  const level = (other) => Number(other.getAttribute("aria-level"));
  const edges = (other) => [other.offsetLeft, other.offsetLeft + other.offsetWidth];
  const [left, right] = edges(box);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const wanted = level(box) + (key === "ArrowUp" ? -1 : 1);
    return all.find((other) => {
      const [from, to] = edges(other);
      return level(other) === wanted && from < right && to > left;
    });
  }
  const row = all.filter((other) => level(other) === level(box));
  return row[row.indexOf(box) + { ArrowLeft: -1, ArrowRight: 1 }[key]];
}

function flameKey(event) {
  const box = event.target.closest(".frame");
  if (!box) return;
  const node = Number(box.dataset.node);
  if (event.key.startsWith("Arrow")) moveFocus(byId("frames"), neighbour(box, event.key));
  else if (event.key === "Enter") pickFrame(node);
  else if (event.key === " ") chooseFrame(data.nodes.frames[node]);
  else return;
  event.preventDefault();
}

function pickFrame(node) {
  zoomTo(node);
  chooseFrame(data.nodes.frames[node]);
}

function showFlame() {
  weigh();
  const box = byId("frames");
  const over = (event) => {
    const frame = event.target.closest(".frame");
    if (frame) detail(Number(frame.dataset.node));
  };
  box.addEventListener("mouseover", over);
  box.addEventListener("focusin", over);
  box.addEventListener("keydown", flameKey);
  box.addEventListener("click", (event) => {
    const frame = event.target.closest(".frame");
    if (frame) pickFrame(Number(frame.dataset.node));
  });
  byId("search").addEventListener("input", search);
  byId("unzoom").addEventListener("click", () => zoomTo(0));
  byId("weighting").addEventListener("change", () => {
    weigh();
    search();
  });
  const resized = () => box.clientWidth !== flame.width && drawFlame();
  new ResizeObserver(resized).observe(box.parentElement);
  onSelection(() => {
    const chosen = (node) => selection.frames.has(data.nodes.frames[node]);
    if (selection.frames.size && !chosen(flame.zoomed)) revealFrames(chosen);
    else drawFlame();
    if (!selection.frames.size) return;
    const weight = shareText(weightOf(chosen));
    byId("frame-detail").textContent = `${selection.title}: ${counted(selection.frames.size, "frame")}, ${weight}`;
  });
}
