// The source, with what each line cost.

/** What the statements of each line cost with their own conditions: the rows of what costs, by line. */
function costsByLine() {
  const { columns, rows, places } = data.tables[3];
  const at = (title) => columns.findIndex(([other]) => other === title);
  const [kind, cost] = [at("kind"), at("cost")];
  const sums = new Map();
  rows.forEach((row, index) => {
    if (row[kind] !== "cost") return;
    for (const place of places[index]) sums.set(placeKey(place), (sums.get(placeKey(place)) ?? 0) + row[cost]);
  });
  return sums;
}

/** Cycles of the cells that are made on each line. */
function cellsByLine() {
  const { columns, rows, places } = data.tables[0];
  const cycles = columns.findIndex(([title]) => title === "cycles");
  const sums = new Map();
  rows.forEach((row, index) => {
    for (const place of places[index]) sums.set(placeKey(place), (sums.get(placeKey(place)) ?? 0) + row[cycles]);
  });
  return sums;
}

function showSource() {
  const known = new Set([
    ...data.frames.flatMap((frame) => frame.places.map(placeKey)),
    ...data.tables.flatMap((table) => table.places.flat().map(placeKey)),
  ]);
  const files = byId("files");
  const [costs, cells] = [costsByLine(), cellsByLine()];
  const most = Math.max(1, ...costs.values());
  data.files.forEach((file, at) => files.append(sourceTable(file, at, { known, costs, cells, most })));
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
    const keys = [...selection.lines].filter((key) => isOfLanguage(data.files[fileOf(key)]));
    const inSight = keys.find((key) => fileOf(key) === source.file);
    const key = inSight ?? keys[0];
    if (!key) return;
    source.choose(fileOf(key));
    revealLine(key);
  });
  onLanguage(() => {
    showFileTabs();
    openHottest();
  });
}

const source = { file: 0, choose: () => {} };

/** Whether lines of a file are shown in the language that is chosen. */
const isOfLanguage = (file) => language() === "both" || Boolean(file.front) === (language() === "front");

/** The numbers beside a line, in the order of its columns: title and text for a cost. */
const COSTS = [
  ["cycles", ({ cycles }) => count(cycles)],
  ["useful %", ({ cycles, useful }) => percent(useful, cycles)],
  ["overhead", ({ overhead }) => (overhead ? count(overhead) : "")],
  ["costs", ({ all }) => (all ? count(all) : "")],
];

function sourceTable(file, at, { known, costs, cells, most }) {
  const figures = new Map(file.costs.map(([number, cycles, useful, overhead]) => [number, { cycles, useful, overhead, all: costs.get(`${at}:${number}`) ?? 0 }]));
  const some = (title) => [...figures.values()].some(({ overhead, all }) => (title === "overhead" ? overhead > 0 : all !== overhead));
  const columns = COSTS.filter(([title]) => !["overhead", "costs"].includes(title) || some(title));
  const body = element("tbody");
  const widths = [...columns.map(([title]) => title.length), Math.max(4, String(file.lines.length).length)];
  const last = columns.length - 1;
  file.lines.forEach((text, index) => {
    const key = `${at}:${index + 1}`;
    const cost = figures.get(index + 1);
    const numbers = columns.map(([, write], column) => {
      const number = cost ? write(cost) : "";
      widths[column] = Math.max(widths[column], number.length);
      return element("td", { class: column === last ? "heat" : undefined }, number);
    });
    if (!cost && cells.get(key)) {
      numbers[0].replaceChildren(count(cells.get(key)));
      numbers[0].setAttribute("class", "cell");
      numbers[0].setAttribute("title", "cycles in which the cells were active that are made here");
    }
    body.append(sourceLine([at, index + 1], text, cost, numbers, known.has(key), most));
  });
  const titles = [...columns.map(([title]) => title), "line", file.name];
  const head = titles.map((title, nth) => {
    const hint = nth < titles.length - 1 ? explained(title.replace(" %", "")) : {};
    return element("th", { scope: "col", ...hint }, title);
  });
  const table = element("table", { class: "source", "data-file": at, "data-numbers": widths.length }, element("thead", {}, element("tr", {}, ...head)), body);
  // From which follows where the columns stay while the code scrolls.
  widths.forEach((width, column) => table.style.setProperty(`--width-${column}`, `calc(${width}ch + 16px)`));
  return table;
}

function sourceLine(place, text, cost, numbers, known, most) {
  const number = String(place[1]);
  const row = element(
    "tr",
    { "data-line": placeKey(place) },
    ...numbers,
    known
      ? element("th", { scope: "row" }, element("button", { type: "button", tabindex: "-1" }, number))
      : element("th", { scope: "row" }, number),
    element("td", { class: "code" }, text),
  );
  if (cost && !cost.cycles) row.className = "idle";
  if (cost?.all) row.style.setProperty("--heat", String(Math.sqrt(cost.all / most)));
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
  const all = data.files.map((_, at) => at).filter((at) => isOfLanguage(data.files[at]));
  const order = all.sort((a, b) => Number(data.files[b].front ?? 0) - Number(data.files[a].front ?? 0));
  const show = (at) => {
    source.file = at;
    for (const table of document.querySelectorAll("#files table")) table.hidden = Number(table.dataset.file) !== at;
    setTabStop();
  };
  const bar = byId("source").firstElementChild;
  bar.querySelector("[role='tablist']")?.remove();
  source.choose = () => {};
  if (order.length < 2) {
    if (order.length) show(order[0]);
    return;
  }
  const choose = tabs(bar, "Files", order.map((at) => data.files[at].name), (nth) => show(order[nth]));
  bar.append(bar.querySelector(".enlarge"));
  source.choose = (at) => choose(order.indexOf(at));
}

/** Opens the file with the line that costs most at that line; of several, the front end's. */
function openHottest() {
  const files = data.files.map((file, at) => ({ ...file, at })).filter(isOfLanguage);
  const front = files.some((file) => file.front && file.costs.length);
  const costs = costsByLine();
  const lines = files.filter((file) => Boolean(file.front) === front).flatMap(({ costs: all, at }) => all.map(([number, cycles]) => ({ key: `${at}:${number}`, number, cycles })));
  const of = ({ key }) => costs.get(key) ?? 0;
  // Without costs, the innermost of the lines that were active longest: it comes last.
  const hotter = (a, b) => (of(b) - of(a) || b.cycles - a.cycles || b.number - a.number) > 0;
  const hottest = lines.reduce((best, line) => (!best || hotter(best, line) ? line : best), null);
  if (!hottest) return;
  source.choose(fileOf(hottest.key));
  revealLine(hottest.key);
}

/** One line in sight can be reached by the tab key. */
function setTabStop() {
  const buttons = [...document.querySelectorAll("#files table:not([hidden]) button")];
  if (!buttons.some((button) => button.tabIndex === 0)) buttons[0]?.setAttribute("tabindex", "0");
}
