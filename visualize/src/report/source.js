// The source, with what each line cost.

function showSource() {
  const known = new Set([
    ...data.frames.flatMap((frame) => frame.places.map(placeKey)),
    ...data.tables.flatMap((table) => table.places.filter(Boolean).map(placeKey)),
  ]);
  const most = Math.max(1, ...data.files.flatMap((file) => file.costs.map((cost) => cost[3])));
  data.files.forEach((file, at) => {
    const costs = new Map(file.costs.map((cost) => [cost[0], cost]));
    const body = element("tbody");
    file.lines.forEach((text, index) => {
      const place = [at, index + 1];
      body.append(sourceLine(place, text, costs.get(index + 1), most, known.has(placeKey(place))));
    });
    const head = ["cycles", "useful %", "overhead", "line", file.name].map((title) =>
      element("th", { scope: "col" }, title),
    );
    byId("files").append(
      element("table", { class: "source", "data-file": at }, element("thead", {}, element("tr", {}, ...head)), body),
    );
  });
  showTabs();
  const files = byId("files");
  setTabStop();
  files.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const lines = [...files.querySelectorAll("table:not([hidden]) button")];
    moveFocus(files, lines[lines.indexOf(document.activeElement) + step]);
  });
  onSelection(() => {
    for (const row of files.querySelectorAll("tr[data-line]")) mark(row, selection.lines.has(row.dataset.line));
    const keys = [...selection.lines];
    const inSight = keys.find((key) => fileOf(key) === chosenFile);
    const key = inSight ?? keys[0];
    if (key && data.files.length > 1) chooseFile(fileOf(key));
    if (key) reveal(files, files.querySelector(`tr[data-line="${key}"]`));
  });
}

function sourceLine(place, text, cost, most, known) {
  const number = String(place[1]);
  const [, cycles = 0, useful = 0, overhead = 0] = cost ?? [];
  const row = element(
    "tr",
    { "data-line": placeKey(place) },
    element("td", {}, cost ? count(cycles) : ""),
    element("td", {}, percent(useful, cycles)),
    element("td", { class: "heat" }, overhead ? count(overhead) : ""),
    known
      ? element("th", { scope: "row" }, element("button", { type: "button", tabindex: "-1" }, number))
      : element("th", { scope: "row" }, number),
    element("td", { class: "code" }, text),
  );
  if (cost && !cycles) row.className = "idle";
  if (overhead) row.style.setProperty("--heat", String(Math.sqrt(overhead / most)));
  if (known) row.addEventListener("click", () => choosePlace(place));
  return row;
}

// Where there are several files, one is shown at a time; those of the front end come first.
let chosenFile = 0;

const fileOf = (key) => Number(key.split(":")[0]);

function showTabs() {
  const order = data.files.map((_, at) => at).sort((a, b) => Number(data.files[b].front ?? 0) - Number(data.files[a].front ?? 0));
  if (order.length < 2) return;
  const tabs = order.map((at) =>
    element(
      "button",
      { type: "button", role: "tab", "data-file": at, tabindex: "-1", onclick: () => chooseFile(at) },
      data.files[at].name,
    ),
  );
  const list = element("div", { role: "tablist", id: "tabs", "aria-label": "Files" }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = tabs[tabs.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    chooseFile(Number(next.dataset.file));
    next.focus();
  });
  byId("files").before(list);
  // The one where the program begins: a line of it is active as long as the run.
  const most = (at) => Math.max(0, ...data.files[at].costs.map(([, cycles]) => cycles));
  const first = order.filter((at) => data.files[at].front === data.files[order[0]].front);
  chooseFile(first.reduce((best, at) => (most(at) > most(best) ? at : best)));
}

function chooseFile(at) {
  chosenFile = at;
  for (const tab of document.querySelectorAll("#tabs button")) {
    const chosen = Number(tab.dataset.file) === at;
    tab.setAttribute("aria-selected", String(chosen));
    tab.setAttribute("tabindex", chosen ? "0" : "-1");
  }
  for (const table of document.querySelectorAll("#files table")) table.hidden = Number(table.dataset.file) !== at;
  setTabStop();
}

/** One line in sight can be reached by the tab key. */
function setTabStop() {
  const buttons = [...document.querySelectorAll("#files table:not([hidden]) button")];
  if (!buttons.some((button) => button.tabIndex === 0)) buttons[0]?.setAttribute("tabindex", "0");
}
