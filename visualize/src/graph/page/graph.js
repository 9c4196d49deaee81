// The page of a graph: the image, to be moved, enlarged and searched.

const graph = { svg: null, whole: null, origin: [0, 0], first: null, view: null, matches: [], at: -1 };

/** The nodes of an image, whose names are texts whatever is in them. */
function imageOf(text) {
  const image = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  for (const step of image.querySelectorAll(".step")) {
    step.setAttribute("tabindex", "0");
    step.setAttribute("role", "img");
    step.setAttribute("aria-label", step.querySelector("title").textContent);
  }
  return document.adoptNode(image);
}

function showImage([text, leftOut]) {
  graph.svg = imageOf(text);
  graph.whole = graph.svg.getAttribute("viewBox").split(" ").map(Number);
  graph.svg.removeAttribute("width");
  graph.svg.removeAttribute("height");
  byId("graph").replaceChildren(graph.svg);
  // The page has a heading and a legend of its own, and needs no room for those of the image.
  const inner = graph.svg.querySelector("g[transform]");
  const { e, f } = inner.transform.baseVal[0].matrix;
  graph.origin = [e, f];
  const top = f + inner.getBBox().y - 8;
  graph.whole[3] -= top - graph.whole[1];
  graph.whole[1] = top;
  byId("left-out").textContent = leftOut ?? "";
  begin();
  search();
}

/** Shows this part of the image: left, top, width and height in its pixels. */
function setView(view) {
  graph.view = view;
  graph.svg.setAttribute("viewBox", view.join(" "));
}

/** Shows all of it, without room above it; no larger than so many image pixels for each pixel of the page tell. */
function fit(least = 0) {
  const [width, height] = boxSize();
  const [left, top, wide, high] = graph.whole;
  const scale = Math.max(least, wide / width, high / height);
  setView([left + (wide - width * scale) / 2, top, width * scale, height * scale]);
}

/** How large the box is, in pixels of the page. */
const boxSize = () => [byId("graph").clientWidth || 1, byId("graph").clientHeight || 1];

/** Begins where names can be read: at the top, as large as it is, or all of it if that is smaller. */
function begin() {
  const [width, height] = boxSize();
  const [left, top, wide, high] = graph.whole;
  const { x, width: first } = graph.svg.querySelector(".step").getBBox();
  if (wide <= width && high <= height) fit(1);
  else if (wide <= width) setView([left + (wide - width) / 2, top, width, height]);
  else setView([Math.max(left, graph.origin[0] + x + first / 2 - width / 2), top, width, height]);
  graph.first = graph.view;
}

/** Image pixels for each pixel of the page. */
function unit() {
  const [width, height] = boxSize();
  return Math.max(graph.view[2] / width, graph.view[3] / height);
}

/** Enlarges around a place of the box: shares of its width and height. */
function zoom(factor, [across, down] = [0.5, 0.5]) {
  const [width, height] = boxSize();
  const scale = unit();
  // What is in sight, with what the shape of the box adds.
  const [wide, high] = [width * scale, height * scale];
  const left = graph.view[0] - (wide - graph.view[2]) / 2;
  const top = graph.view[1] - (high - graph.view[3]) / 2;
  const bounded = Math.max(0.05, Math.min(20, scale * factor)) / scale;
  setView([left + across * wide * (1 - bounded), top + down * high * (1 - bounded), wide * bounded, high * bounded]);
}

function move(across, down) {
  const scale = unit();
  const [left, top, width, height] = graph.view;
  setView([left + across * scale, top + down * scale, width, height]);
}

function drag(event) {
  if (event.button !== 0) return;
  let [x, y] = [event.clientX, event.clientY];
  const box = byId("graph");
  let moved = false;
  const on = ({ clientX, clientY }) => {
    moved ||= Math.abs(clientX - event.clientX) + Math.abs(clientY - event.clientY) > 4;
    if (!moved) return;
    move(x - clientX, y - clientY);
    [x, y] = [clientX, clientY];
  };
  const stop = () => {
    removeEventListener("pointermove", on);
    if (!moved) tell(event.target.closest(".step"));
  };
  addEventListener("pointermove", on);
  addEventListener("pointerup", stop, { once: true });
  box.focus({ preventScroll: true });
}

/** Tells all of a step below the graph. */
function tell(step) {
  byId("detail").textContent = step ? step.querySelector("title").textContent.replaceAll("\n", "; ") : "";
}

/** Brings a step to the middle, large enough to be read. */
function center(step) {
  const { x, y, width, height } = step.getBBox();
  const [wide, high] = boxSize();
  const scale = Math.min(1, unit());
  const [left, top] = graph.origin;
  setView([left + x + width / 2 - (wide * scale) / 2, top + y + height / 2 - (high * scale) / 2, wide * scale, high * scale]);
  tell(step);
}

function search() {
  const wanted = byId("search").value.toLowerCase();
  const steps = [...graph.svg.querySelectorAll(".step")];
  graph.matches = wanted ? steps.filter((step) => step.querySelector("title").textContent.toLowerCase().includes(wanted)) : [];
  for (const step of steps) step.classList.toggle("match", graph.matches.includes(step));
  byId("graph").classList.toggle("searched", wanted !== "");
  byId("matches").textContent = wanted ? `${count(graph.matches.length)} of ${count(steps.length)}` : "";
  graph.at = -1;
}

function next() {
  if (!graph.matches.length) return;
  graph.at = (graph.at + 1) % graph.matches.length;
  center(graph.matches[graph.at]);
  byId("matches").textContent = `${count(graph.at + 1)} of ${count(graph.matches.length)}`;
}

showImage(data.image);
const box = byId("graph");
// The box may get its size later than the image, and another one; what somebody moved stays.
new ResizeObserver(() => graph.view === graph.first && begin()).observe(box);
box.addEventListener("pointerdown", drag);
box.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    const { left, top, width, height } = box.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 0.85 : 1.18, [(event.clientX - left) / width, (event.clientY - top) / height]);
  },
  { passive: false },
);
box.addEventListener("focusin", ({ target }) => target.closest(".step") && tell(target.closest(".step")));
byId("zoom-in").addEventListener("click", () => zoom(0.7));
byId("zoom-out").addEventListener("click", () => zoom(1.4));
byId("fit").addEventListener("click", () => fit());
byId("search").addEventListener("input", search);
byId("only").hidden = data.all === null;
byId("alone").addEventListener("change", ({ target }) => showImage(target.checked ? data.image : data.all));
byId("help").addEventListener("click", () => byId("keys").showModal());
document.addEventListener("keydown", (event) => {
  if (byId("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
  const isSearch = event.target === byId("search");
  if (event.key === "Escape") {
    byId("search").value = "";
    search();
  } else if (isSearch) {
    if (event.key === "Enter") next();
    return;
  } else if (event.key === "/") byId("search").focus();
  else if (event.key === "?") byId("keys").showModal();
  else if (event.target.closest("button, input")) return;
  else {
    const act = {
      ArrowLeft: () => move(-60, 0),
      ArrowRight: () => move(60, 0),
      ArrowUp: () => move(0, -60),
      ArrowDown: () => move(0, 60),
      "+": () => zoom(0.8),
      "=": () => zoom(0.8),
      "-": () => zoom(1.25),
      0: () => fit(),
    }[event.key];
    if (!act) return;
    act();
  }
  event.preventDefault();
});
showTheme(() => {});
