// The flame graph: the call trees of all cycles laid on top of each other. A frame is as wide as
// the cycles that it was active in.

const FRAME_HEIGHT = 20;

/** The nodes below each node, as the timeline orders them: by when they first ran. */
const childrenOf = data.nodes.parents.map(() => []);
data.nodes.parents.forEach((parent, node) => {
  if (parent !== node) childrenOf[parent].push(node);
});

const frameOf = (node) => data.frames[data.nodes.frames[node]];

/** The nodes from the root to `node`. */
function pathOf(node) {
  const parent = data.nodes.parents[node];
  return parent === node ? [node] : [...pathOf(parent), node];
}

const flame = { weights: [], zoomed: 0, matches: null };

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
  const { kind, places } = frameOf(node);
  const place = places.length ? `, ${placeName(places[0])}` : "";
  byId("frame-detail").textContent = `${fullName(frameOf(node))} (${kind}${place}): ${shareText(flame.weights[node])}`;
}

function drawFlame() {
  const box = byId("frames");
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.node : null;
  const width = box.clientWidth;
  const path = flame.weights.length ? pathOf(flame.zoomed) : [];
  const boxes = [];
  let deepest = 0;
  let narrow = 0;
  const put = (node, depth, left, share) => {
    if (share * width < 1) {
      narrow++;
      return;
    }
    deepest = Math.max(deepest, depth);
    boxes.push(frameBox(node, depth, left, share, path));
    if (depth < path.length - 1) put(path[depth + 1], depth + 1, 0, 1);
    else {
      const order = (a, b) => (frameOf(a).label < frameOf(b).label ? -1 : 1);
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
  const { kind, label } = frameOf(node);
  const box = element(
    "div",
    {
      class: `frame ${kind}`,
      role: "treeitem",
      tabindex: "-1",
      "data-node": node,
      "aria-level": depth + 1,
      "aria-selected": selection.frames.has(data.nodes.frames[node]),
      "aria-label": `${fullName(frameOf(node))}, ${kind}, ${shareText(flame.weights[node])}`,
    },
    label,
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

function search() {
  const wanted = byId("search").value.toLowerCase();
  flame.matches = wanted ? (node) => frameOf(node).label.toLowerCase().includes(wanted) : null;
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
  drawFlame();
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
  new ResizeObserver(drawFlame).observe(box.parentElement);
  onSelection(() => {
    const chosen = (node) => selection.frames.has(data.nodes.frames[node]);
    const within = (node) => chosen(node) || childrenOf[node].some(within);
    if (selection.frames.size && !within(flame.zoomed) && !pathOf(flame.zoomed).some(chosen)) flame.zoomed = 0;
    drawFlame();
    if (!selection.frames.size) return;
    const weight = shareText(weightOf(chosen));
    byId("frame-detail").textContent = `${selection.title}: ${counted(selection.frames.size, "frame")}, ${weight}`;
  });
}
