// Views: which is in sight, how much room each has, and what moves the focus in them.

/** Tabs in `host`. `show` gets the number of the one that is chosen; returns what chooses one. `panels` are the ids of what they show. */
function tabs(host, label, names, show, panels = []) {
  const list = names.map((name, nth) =>
    element("button", { type: "button", role: "tab", tabindex: "-1", "aria-controls": panels[nth], onclick: () => choose(nth) }, name),
  );
  const choose = (chosen) => {
    list.forEach((tab, nth) => {
      tab.setAttribute("aria-selected", String(nth === chosen));
      tab.setAttribute("tabindex", nth === chosen ? "0" : "-1");
    });
    show(chosen);
  };
  const strip = element("div", { role: "tablist", "aria-label": label }, ...list);
  strip.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = (list.indexOf(document.activeElement) + step + list.length) % list.length;
    choose(next);
    list[next].focus();
  });
  host.append(strip);
  choose(0);
  return choose;
}

/** Moves the tab stop of a list with one tab stop to `next`, and the focus with it. */
function moveFocus(list, next) {
  if (!next) return;
  list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** Scrolls a box, and nothing around it, until `inner` is in sight. */
function reveal(box, inner) {
  const outer = box.getBoundingClientRect();
  const rect = inner.getBoundingClientRect();
  const margin = Math.min(60, outer.height / 4);
  const inSight = rect.top >= outer.top + margin && rect.bottom <= outer.bottom - margin;
  // With more of what follows than of what is before.
  if (!inSight) box.scrollTop += rect.top - outer.top - outer.height / 3;
}

/** A splitter between two parts of `box`: a drag, or arrow keys, change how much of it the second has. */
function splitter(node, box) {
  const name = node.dataset.share;
  const isVertical = node.getAttribute("aria-orientation") === "vertical";
  let share = Number(node.getAttribute("aria-valuenow"));
  const set = (wanted) => {
    share = Math.max(5, Math.min(85, wanted));
    box.style.setProperty(`--${name}`, `${share}%`);
    node.setAttribute("aria-valuenow", String(Math.round(share)));
  };
  const kept = remembered.values[name];
  if (kept) set(kept);
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
    const size = (part) => part.getBoundingClientRect()[isVertical ? "width" : "height"];
    const [whole, second] = [size(box), size(node.nextElementSibling)];
    const move = ({ clientX, clientY }) => {
      const by = isVertical ? event.clientX - clientX : event.clientY - clientY;
      set(((second + by) * 100) / whole);
    };
    const stop = () => {
      node.removeEventListener("pointermove", move);
      remembered.set(name, share);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", stop, { once: true });
    node.addEventListener("pointercancel", stop, { once: true });
  });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 4, ArrowUp: 4, ArrowRight: -4, ArrowDown: -4 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(share + step);
    remembered.set(name, share);
  });
}

/** All splitters of the page, and the buttons that enlarge a pane to the whole window. */
function showPanes() {
  for (const node of document.querySelectorAll(".splitter")) splitter(node, node.parentElement);
  for (const button of document.querySelectorAll(".enlarge")) {
    button.addEventListener("click", () => enlarge(button.closest(".pane")));
  }
}

/** Enlarges a pane to the whole window, or gives it its place again. */
function enlarge(pane) {
  const big = pane.classList.toggle("enlarged");
  const button = pane.querySelector(".enlarge");
  button.setAttribute("aria-pressed", String(big));
  button.textContent = big ? "⤡" : "⤢";
  for (const other of document.querySelectorAll("#app > :not(#work), .pane, .side")) {
    if (!other.contains(pane)) other.inert = big;
  }
}

/** Gives an enlarged pane its place again; whether there was one. */
function reduce() {
  const pane = document.querySelector(".enlarged");
  if (pane) enlarge(pane);
  return Boolean(pane);
}

/** The key that enlarges the pane with the focus, or the first one. */
function enlargeKey(event) {
  if (event.key !== "e" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return false;
  const pane = document.querySelector(".enlarged") ?? document.activeElement.closest(".pane") ?? document.querySelector(".pane");
  enlarge(pane);
  return true;
}
