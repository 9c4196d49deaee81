// The flame graph: a frame is as wide as the cycles that it was active in.

const FRAME_HEIGHT = 20;
/** Narrower ones, in pixels, have no name on them. */
const NAMELESS = 20;
/** A chosen frame is at least so many pixels wide. */
const LEGIBLE = 60;

const flame = { stacks: calyxStacks, weights: [], zoomed: 0, matches: null, width: 0 };

function weigh() {
  const { stacks } = flame;
  const weights = [...stacks[byId("weighting").value]];
  for (let node = weights.length - 1; node > 0; node--) weights[stacks.parents[node]] += weights[node];
  flame.weights = weights;
}

/** Weight of the outermost frames for which `matches` holds. */
function weightOf(matches, node = 0) {
  if (!flame.weights.length) return 0;
  if (matches(node)) return flame.weights[node];
  return flame.stacks.children[node].reduce((sum, child) => sum + weightOf(matches, child), 0);
}

/** A part of the run: parallel leaves share a cycle, so that there are parts of few. */
const shareText = (weight) => `${counted(weight < 100 ? Math.round(weight * 100) / 100 : Math.round(weight), "cycle")}, ${percent(weight, flame.weights[0])}`;

function detail(node) {
  const { stacks } = flame;
  const active = stacks.active(node);
  const [name, times] = stacks.told(node);
  const parts = [shareText(flame.weights[node]), active === null ? "" : `active in ${counted(active, "cycle")}`, times, stacks.kind(node) === "line" ? "" : sourceText(stacks.places(node))];
  byId("frame-detail").textContent = `${name}: ${parts.filter(Boolean).join("; ")}`;
}

/** Where the row of a call begins that `node` is a link of: the node that is drawn for it. */
function drawnFor(node) {
  const { stacks, weights } = flame;
  if (byId("links").checked) return node;
  let at = node;
  while (stacks.isLink(at)) {
    const below = stacks.children[at].filter((child) => weights[child] > 0);
    if (below.length !== 1 || weights[at] - weights[below[0]] > weights[at] * 1e-9) break;
    at = below[0];
  }
  return at;
}

function drawFlame() {
  const box = byId("frames");
  const { stacks, weights } = flame;
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.node : null;
  const width = box.clientWidth;
  flame.width = width;
  if (!width) return;
  const path = weights.length ? [...new Set(pathOf(flame.zoomed, stacks.parents).map(drawnFor))] : [];
  const boxes = [];
  let deepest = 0;
  let narrow = 0;
  const put = (first, depth, left, share) => {
    if (share * width < 1) {
      narrow += weights[first] > 0 ? 1 : 0;
      return;
    }
    const node = drawnFor(first);
    deepest = Math.max(deepest, depth);
    boxes.push(frameBox(node, first, depth, left, share, path));
    if (depth < path.length - 1) put(path[depth + 1], depth + 1, 0, 1);
    else {
      const isOverhead = (child) => Number(stacks.kind(child) === "overhead");
      const order = (a, b) => isOverhead(a) - isOverhead(b) || (stacks.name(a) < stacks.name(b) ? -1 : 1);
      for (const child of [...stacks.children[node]].sort(order)) {
        const part = weights[child] / weights[flame.zoomed] || 0;
        put(child, depth + 1, left, part);
        left += part;
      }
    }
  };
  if (path.length) put(0, 0, 0, 1);
  box.replaceChildren(...boxes);
  box.classList.toggle("searched", Boolean(flame.matches));
  box.style.height = `${(deepest + 1) * FRAME_HEIGHT}px`;
  byId("unzoom").disabled = flame.zoomed === 0;
  const stop = box.querySelector(`[data-node="${focused ?? drawnFor(flame.zoomed)}"]`) ?? boxes[0];
  stop?.setAttribute("tabindex", "0");
  if (focused !== null) stop?.focus({ preventScroll: true });
  else if (!path.length) byId("frame-detail").textContent = "The run has no cycles.";
  else if (narrow) byId("frame-detail").textContent = `${counted(narrow, "frame")} narrower than a pixel: zoom in to see them.`;
  else detail(flame.zoomed);
}

/** The box of `node`, which stands for the links of its call from `first` on, too. */
function frameBox(node, first, depth, left, share, path) {
  const { stacks } = flame;
  const links = pathOf(node, stacks.parents).slice(pathOf(first, stacks.parents).length - 1);
  const kind = stacks.kind(node);
  const name = share * flame.width < NAMELESS ? "" : stacks.name(node);
  const by = links.slice(0, -1).map((link) => stacks.name(link));
  const box = element(
    "div",
    {
      class: `frame paint-${stacks.paint(node)}`,
      role: "treeitem",
      tabindex: "-1",
      "data-node": node,
      "aria-level": depth + 1,
      "aria-selected": links.some(stacks.isChosen),
      "aria-label": `${onBox(stacks.name(node))}, ${kind}${by.length ? ` by ${by.join(", ")}` : ""}, ${shareText(flame.weights[node])}`,
    },
    kind === "overhead" && name ? element("span", {}, onBox(name)) : name,
  );
  if (depth < path.length - 1) box.classList.add("above");
  if (flame.matches && links.some(flame.matches)) box.classList.add("match");
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
  const { weights, stacks } = flame;
  const nodes = weights.flatMap((weight, node) => (weight > 0 && chosen(node) ? [node] : []));
  if (!nodes.length) return drawFlame();
  const widest = nodes.reduce((best, node) => (weights[node] > weights[best] ? node : best));
  const path = pathOf(widest, stacks.parents);
  const inside = path.includes(flame.zoomed);
  const wide = (node) => (weights[widest] / weights[node]) * byId("frames").clientWidth >= LEGIBLE;
  if (!inside || !wide(flame.zoomed)) flame.zoomed = path.find(wide) ?? widest;
  drawFlame();
  const box = byId("frames").querySelector(`[data-node="${drawnFor(widest)}"]`);
  if (box) reveal(byId("frames-box"), box);
}

function search() {
  const wanted = byId("search").value.toLowerCase();
  const { stacks } = flame;
  flame.matches = wanted ? (node) => stacks.searched(node).some((text) => text.toLowerCase().includes(wanted)) : null;
  const weight = flame.matches ? weightOf(flame.matches) : 0;
  byId("matches").textContent = flame.matches ? `matched: ${shareText(weight)}` : "";
  drawFlame();
  const first = wanted && byId("frames").querySelector(".match");
  if (first) reveal(byId("frames-box"), first);
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
  else if (event.key === " ") flame.stacks.choose(node);
  else return;
  event.preventDefault();
}

function pickFrame(node) {
  zoomTo(node);
  flame.stacks.choose(node);
}

/** Shows the stacks of the language that is chosen. */
function changeStacks() {
  flame.stacks = language() === "front" ? lineStacks() : calyxStacks;
  flame.zoomed = 0;
  weigh();
  search();
}

/** Shows what is chosen. */
function showChosenFrames() {
  const { isChosen } = flame.stacks;
  const some = flame.weights.some((weight, node) => weight > 0 && isChosen(node));
  if (some && !isChosen(flame.zoomed)) revealFrames(isChosen);
  else drawFlame();
  if (!some) return;
  const frames = flame.weights.filter((_, node) => isChosen(node)).length;
  const told = flame.stacks === calyxStacks ? counted(selection.frames.size, "frame") : counted(frames, "frame");
  byId("frame-detail").textContent = `${selection.title}: ${told}, ${shareText(weightOf(isChosen))}`;
}

function showFlame() {
  const box = byId("frames");
  changeStacks();
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
  byId("links").checked = Boolean(remembered.values.links);
  byId("links").addEventListener("change", ({ target }) => {
    remembered.set("links", target.checked);
    drawFlame();
  });
  byId("weighting").addEventListener("change", () => {
    weigh();
    search();
  });
  const resized = () => box.clientWidth !== flame.width && drawFlame();
  new ResizeObserver(resized).observe(box.parentElement);
  onSelection(showChosenFrames);
  onLanguage(() => {
    changeStacks();
    showChosenFrames();
  });
}
