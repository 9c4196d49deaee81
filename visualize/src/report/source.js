// The source, with what each line cost.

function showSource() {
  const known = new Set([
    ...data.frames.flatMap((frame) => frame.places.map(placeKey)),
    ...data.tables.flatMap((table) => table.places.filter(Boolean).map(placeKey)),
  ]);
  const files = byId("files");
  const most = Math.max(1, ...data.files.flatMap((file) => file.costs.map((cost) => cost[3])));
  data.files.forEach((file, at) => files.append(sourceTable(file, at, most, known)));
  showFileTabs();
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
    const inSight = keys.find((key) => fileOf(key) === source.file);
    const key = inSight ?? keys[0];
    if (!key) return;
    source.choose(fileOf(key));
    revealLine(key);
  });
}

const source = { file: 0, choose: () => {} };

/** The numbers beside a line, in the order of its columns: title and text for a cost. */
const COSTS = [
  ["cycles", ([, cycles]) => count(cycles)],
  ["useful %", ([, cycles, useful]) => percent(useful, cycles)],
  ["overhead", ([, , , overhead]) => (overhead ? count(overhead) : "")],
];

function sourceTable(file, at, most, known) {
  const costs = new Map(file.costs.map((cost) => [cost[0], cost]));
  const columns = COSTS.filter(([title]) => title !== "overhead" || file.costs.some((cost) => cost[3] > 0));
  const body = element("tbody");
  const widths = [...columns.map(([title]) => title.length), Math.max(4, String(file.lines.length).length)];
  file.lines.forEach((text, index) => {
    const place = [at, index + 1];
    const cost = costs.get(index + 1);
    const numbers = columns.map(([title, write], column) => {
      const number = cost ? write(cost) : "";
      widths[column] = Math.max(widths[column], number.length);
      return element("td", { class: title === "overhead" ? "heat" : undefined }, number);
    });
    body.append(sourceLine(place, text, cost, numbers, known.has(placeKey(place)), most));
  });
  const titles = [...columns.map(([title]) => title), "line", file.name];
  const head = titles.map((title, nth) => {
    const hint = nth < titles.length - 1 ? explained(title.replace(" %", "")) : {};
    return element("th", { scope: "col", ...hint }, title);
  });
  const table = element("table", { class: "source", "data-file": at }, element("thead", {}, element("tr", {}, ...head)), body);
  // Where the columns stay while the code scrolls.
  widths.reduce((left, width, column) => {
    table.style.setProperty(`--left-${column}`, `calc(${left}ch + ${column * 16}px)`);
    table.style.setProperty(`--width-${column}`, `calc(${width}ch + 16px)`);
    return left + width;
  }, 0);
  table.dataset.columns = String(columns.length);
  return table;
}

function sourceLine(place, text, cost, numbers, known, most) {
  const number = String(place[1]);
  const [, cycles = 0, , overhead = 0] = cost ?? [];
  const row = element(
    "tr",
    { "data-line": placeKey(place) },
    ...numbers,
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

const fileOf = (key) => Number(key.split(":")[0]);

function revealLine(key) {
  const row = byId("files").querySelector(`tr[data-line="${key}"]`);
  if (row) reveal(byId("files"), row);
}

/** Where there are several files, one is shown at a time; those of the front end come first. */
function showFileTabs() {
  const order = data.files.map((_, at) => at).sort((a, b) => Number(data.files[b].front ?? 0) - Number(data.files[a].front ?? 0));
  const names = order.map((at) => data.files[at].name);
  const show = (at) => {
    source.file = at;
    for (const table of document.querySelectorAll("#files table")) table.hidden = Number(table.dataset.file) !== at;
    setTabStop();
  };
  if (order.length < 2) return;
  const choose = tabs(byId("source").firstElementChild, "Files", names, (nth) => show(order[nth]));
  source.choose = (at) => choose(order.indexOf(at));
}

/** Opens the file with the hottest line at that line. */
function openHottest() {
  const files = data.files.map((file, at) => ({ ...file, at }));
  const front = files.some((file) => file.front && file.costs.length);
  const lines = files.filter((file) => Boolean(file.front) === front).flatMap(({ costs, at }) => costs.map((cost) => ({ at, cost })));
  // Without overhead, the innermost of the lines that were active longest: it comes last.
  const hotter = (a, b) => (b.cost[3] - a.cost[3] || b.cost[1] - a.cost[1] || b.cost[0] - a.cost[0]) > 0;
  const hottest = lines.reduce((best, line) => (!best || hotter(best, line) ? line : best), null);
  if (!hottest) return;
  source.choose(hottest.at);
  revealLine(placeKey([hottest.at, hottest.cost[0]]));
}

/** One line in sight can be reached by the tab key. */
function setTabStop() {
  const buttons = [...document.querySelectorAll("#files table:not([hidden]) button")];
  if (!buttons.some((button) => button.tabIndex === 0)) buttons[0]?.setAttribute("tabindex", "0");
}
