// The flame graphs of both runs on one scale: the same frame has the same number in both.

const FRAME_HEIGHT = 20;
/** Narrower frames, in pixels, have no name on them. */
const NAMELESS = 20;
const SIDES = ["before", "after"];

const childrenOf = data.frames.map(() => []);
data.frames.forEach(({ above }, at) => {
  if (above !== null) childrenOf[above].push(at);
});
for (const children of childrenOf) {
  const isOverhead = (at) => Number(data.frames[at].label.startsWith("(overhead: "));
  children.sort((a, b) => isOverhead(a) - isOverhead(b) || (data.frames[a].label < data.frames[b].label ? -1 : 1));
}

const flames = { zoomed: null, wanted: "", width: 0 };

/** A name as it stands on its box: of overhead only its kind, since stripes tell the rest. */
const onBox = (name) => /^\(overhead: (.*)\)$/.exec(name)?.[1] ?? name;

/** Thousandths of cycles as cycles: parallel leaves share one, so that there are parts of few. */
const inCycles = (thousandths) => count(thousandths < 100_000 ? Math.round(thousandths / 10) / 100 : Math.round(thousandths / 1000));
/** A difference of thousandths as cycles, with as many decimals as they have. */
const change = (before, after) => (after > before ? `+${inCycles(after - before)}` : after < before ? `−${inCycles(before - after)}` : "0");

const strongest = Math.max(1, ...data.frames.map(({ before, after }) => Math.abs(after - before)));

/** Grey where nothing changed, red where it grew, blue where it shrank: the eye tells small changes from none. */
function tint({ before, after }) {
  const strength = Math.sqrt(Math.abs(after - before) / strongest) * 100;
  const color = after > before ? "--box-grew" : "--box-shrank";
  return `color-mix(in srgb, var(${color}) ${strength.toFixed(1)}%, var(--box-same))`;
}

function pathOf(at) {
  const { above } = data.frames[at];
  return above === null ? [at] : [...pathOf(above), at];
}

/** Cycles of a whole run, or of what is zoomed to: the longer of both is as wide as the box. */
function drawFlames() {
  const roots = data.frames.flatMap(({ above }, at) => (above === null ? [at] : []));
  const shown = flames.zoomed === null ? roots : [flames.zoomed];
  const scale = Math.max(1, ...SIDES.map((side) => shown.reduce((sum, at) => sum + data.frames[at][side], 0)));
  const path = flames.zoomed === null ? [] : pathOf(flames.zoomed).slice(0, -1);
  const width = byId("before").clientWidth;
  flames.width = width;
  if (!width) return;
  for (const side of SIDES) {
    const boxes = path.map((at, depth) => frameBox(at, depth, 0, 1));
    for (const box of boxes) box.classList.add("above");
    let deepest = path.length;
    const put = (at, depth, left) => {
      const share = data.frames[at][side] / scale;
      if (share * width < 1) return;
      deepest = Math.max(deepest, depth + 1);
      boxes.push(frameBox(at, depth, left, share));
      let inside = left;
      for (const child of childrenOf[at]) {
        put(child, depth + 1, inside);
        inside += data.frames[child][side] / scale;
      }
    };
    let left = 0;
    for (const at of shown) {
      put(at, path.length, left);
      left += data.frames[at][side] / scale;
    }
    const box = byId(side);
    box.replaceChildren(...boxes);
    box.classList.toggle("searched", flames.wanted !== "");
    box.style.height = `${Math.max(1, deepest) * FRAME_HEIGHT}px`;
    boxes[path.length]?.setAttribute("tabindex", "0");
  }
  byId("unzoom").disabled = flames.zoomed === null;
}

function frameBox(at, depth, left, share) {
  const frame = data.frames[at];
  const name = onBox(frame.label);
  const isAlone = frame.before === 0 || frame.after === 0;
  const box = element(
    "div",
    { class: `frame${isAlone ? " gone" : ""}${name === frame.label ? "" : " striped"}`, role: "treeitem", tabindex: "-1", "data-frame": at, "aria-level": depth + 1, "aria-label": told(at) },
    share * flames.width < NAMELESS ? "" : element("span", {}, name),
  );
  if (flames.wanted && frame.label.toLowerCase().includes(flames.wanted)) box.classList.add("match");
  box.style.top = `${depth * FRAME_HEIGHT}px`;
  box.style.left = `${left * 100}%`;
  box.style.width = `${share * 100}%`;
  box.style.backgroundColor = tint(frame);
  return box;
}

/** A frame with its cycles in both runs. */
function told(at) {
  const { label, before, after } = data.frames[at];
  const name = onBox(label);
  return `${name === label ? name : `${name} (overhead)`}: ${inCycles(before)} → ${inCycles(after)} cycles (${change(before, after)})`;
}

/** Where an arrow key leads to: up and down the tree, or to the next box of the same depth. */
function neighbour(box, key) {
  const all = [...box.parentElement.children];
  const level = (other) => Number(other.getAttribute("aria-level"));
  const edges = (other) => [other.offsetLeft, other.offsetLeft + other.offsetWidth];
  const [left, right] = edges(box);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const wanted = level(box) + (key === "ArrowUp" ? -1 : 1);
    return all.find((other) => level(other) === wanted && edges(other)[0] < right && edges(other)[1] > left);
  }
  const row = all.filter((other) => level(other) === level(box));
  return row[row.indexOf(box) + { ArrowLeft: -1, ArrowRight: 1 }[key]];
}

function zoomTo(at) {
  flames.zoomed = at;
  drawFlames();
  if (at !== null) byId("frame-detail").textContent = told(at);
}

function showFlames() {
  const { designs, cycles } = data.comparison;
  byId("name-before").textContent = `before: ${designs.before}, ${count(cycles.before)} cycles`;
  byId("name-after").textContent = `after: ${designs.after}, ${count(cycles.after)} cycles`;
  for (const side of SIDES) {
    const box = byId(side);
    const over = ({ target }) => {
      const at = target.closest(".frame")?.dataset.frame;
      for (const other of document.querySelectorAll(".frame.pointed")) other.classList.remove("pointed");
      if (at === undefined) return;
      for (const other of document.querySelectorAll(`.frame[data-frame="${at}"]`)) other.classList.add("pointed");
      byId("frame-detail").textContent = told(Number(at));
    };
    box.addEventListener("mouseover", over);
    box.addEventListener("focusin", over);
    const pick = (frame) => {
      zoomTo(Number(frame.dataset.frame));
      chooseName(data.frames[frame.dataset.frame].label);
    };
    box.addEventListener("click", ({ target }) => target.closest(".frame") && pick(target.closest(".frame")));
    box.addEventListener("keydown", (event) => {
      const frame = event.target.closest(".frame");
      if (!frame) return;
      if (event.key.startsWith("Arrow")) moveFocus(box, neighbour(frame, event.key));
      else if (event.key === "Enter") {
        const at = Number(frame.dataset.frame);
        pick(frame);
        box.querySelector(`[data-frame="${at}"]`)?.focus();
      } else return;
      event.preventDefault();
    });
  }
  byId("search").addEventListener("input", ({ target }) => {
    flames.wanted = target.value.toLowerCase();
    drawFlames();
    const first = flames.wanted && document.querySelector(".frame.match");
    if (first) reveal(byId("frames-box"), first);
  });
  byId("unzoom").addEventListener("click", () => zoomTo(null));
  new ResizeObserver(() => byId("before").clientWidth !== flames.width && drawFlames()).observe(byId("frames-box"));
  drawFlames();
}
