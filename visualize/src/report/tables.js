// The tables, one in sight at a time: sorted by a click on a heading, filtered by a text.

/** What matters most, after the name: these columns come first. */
const FIRST_COLUMNS = ["own", "cost", "cycles", "total cycles", "overhead", "SHARE", "iterations", "shortest iteration", "average iteration", "longest iteration", "times entered", "times active"];

/** What the name, or the source beside the table, tells as well: these come last. */
const LAST_COLUMNS = ["file", "line", "front end"];

/** The order of the tables, and what of each is its cost: the column that the page adds is that in percent of the run. */
const TABLES = { hotspots: "cost", lines: "own", control: "overhead", groups: "total cycles", cells: "cycles", loops: "cycles" };

const panels = new Map();
const tablesView = { choose: () => {}, names: [] };

/** The table that is in sight, made when it is first needed. */
function openTable(name) {
  for (const [other, panel] of panels) panel.hidden = other !== name;
  if (!panels.has(name)) {
    const at = data.tables.findIndex((table) => table.name === name);
    panels.set(name, tablePanel(data.tables[at], at));
    byId("tables").append(panels.get(name));
  }
  panels.get(name).hidden = false;
  tablesView.open = name;
}

/** Tabs for the tables of the language that is chosen. */
function showTableTabs() {
  const isShown = ({ name, front }) => language() === "both" || (language() === "front" ? front || name === "hotspots" : !front);
  tablesView.names = Object.keys(TABLES).filter((name) => data.tables.some((table) => table.name === name && isShown(table)));
  const bar = byId("tables").firstElementChild;
  bar.replaceChildren();
  tablesView.choose = tabs(bar, "Tables", tablesView.names, (nth) => openTable(tablesView.names[nth]));
}

function showTables() {
  showTableTabs();
  const follow = () => {
    const chosen = (name) => selection.rows[data.tables.findIndex((table) => table.name === name)]?.size > 0;
    const next = ["lines", "control", "groups", "cells"].find((name) => tablesView.names.includes(name) && chosen(name));
    if (next && !chosen(tablesView.open)) tablesView.choose(tablesView.names.indexOf(next));
    revealRow();
  };
  onSelection(follow);
  onLanguage(() => {
    showTableTabs();
    follow();
  });
}

/** Scrolls the table in sight to the first row that is chosen. */
function revealRow() {
  const panel = panels.get(tablesView.open);
  const first = panel?.querySelector("tr[aria-current]");
  if (first) reveal(panel.querySelector(".box"), first);
}

/** The columns as they are shown: the name with its component, what matters, the rest without what is 0 everywhere. */
function columnsOf(table, at) {
  const { columns, name } = table;
  const index = (title) => columns.findIndex(([other]) => other === title);
  const key = keyColumn(name);
  const weight = index(TABLES[name]);
  const named = { groups: ["component", key], control: ["component", key], loops: ["component", key], lines: ["file", key] }[name] ?? [key];
  const shown = [{ title: key, value: (_row, nth) => rowName(at, nth), numeric: false }];
  const share = {
    title: name === "control" ? "overhead, % of run" : "% of run",
    value: (row) => (typeof row[weight] === "number" ? row[weight] / data.cycles : null),
    numeric: true,
    isShare: true,
    isCost: true,
  };
  const others = columns.map(([title, numeric], column) => ({ title, value: (row) => row[column], numeric }));
  const rest = others.filter(({ title }) => !named.includes(title) && title !== "% of run");
  const titled = (title) => rest.filter((column) => column.title === title);
  const first = FIRST_COLUMNS.flatMap((title) => (title === "SHARE" ? [share] : titled(title)));
  const last = LAST_COLUMNS.flatMap(titled);
  shown.push(...first, ...rest.filter((column) => !first.includes(column) && !last.includes(column)), ...last);
  const told = ({ value }) => table.rows.some((row, nth) => ![null, 0, ""].includes(value(row, nth)));
  const important = (column) => column === shown[0] || column === share || ["cycles", "overhead", "cost"].includes(column.title);
  return { shown: shown.filter((column) => important(column) || told(column)), all: shown.length };
}

/** A table has so many rows on the page until all are asked for: browsers take long to lay out more. */
const MANY_ROWS = 300;

function tablePanel(table, at) {
  const { name, rows } = table;
  const { shown, all } = columnsOf(table, at);
  const write = shown.map((column) => writer(column, rows.map((row, nth) => column.value(row, nth))));
  const body = element("tbody");
  const lines = new Map();
  const isChosen = (index) => Boolean(selection.rows[at]?.has(index));
  /** A row on the page, which is made when it is needed. */
  const lineOf = (index) => {
    if (lines.has(index)) return lines.get(index);
    const cells = shown.map((column, nth) => {
      const tag = nth ? "td" : "th";
      const attributes = { scope: nth ? undefined : "row", class: column.numeric ? "number" : undefined };
      return element(tag, attributes, write[nth](column.value(rows[index], index)));
    });
    const line = element("tr", { tabindex: "-1", "data-row": index }, ...cells);
    line.addEventListener("click", () => chooseRow(at, index));
    mark(line, isChosen(index));
    lines.set(index, line);
    return line;
  };
  const active = rows.map((_, index) => index).filter((index) => isActive(table, index));
  const byCost = shown.find(({ isCost }) => isCost);
  let order = sorted(active, rows, byCost, -1);
  let isWhole = order.length <= MANY_ROWS;
  const note = element("output", {});
  const filter = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const showAll = () => {
    isWhole = true;
    fill();
  };
  const more = element("button", { type: "button", onclick: showAll }, "Show all");
  const fill = () => {
    const wanted = filter.value.toLowerCase();
    const texts = (index) => [...rows[index], rowName(at, index)];
    const left = order.filter((index) => texts(index).some((value) => String(value ?? "").toLowerCase().includes(wanted)));
    const inSight = isWhole ? left : left.filter((index, nth) => nth < MANY_ROWS || isChosen(index));
    body.replaceChildren(...inSight.map(lineOf));
    if (!body.querySelector("[tabindex='0']")) body.firstElementChild?.setAttribute("tabindex", "0");
    more.hidden = inSight.length === left.length;
    const whole = counted(order.length, "row");
    const hidden = [];
    if (rows.length > order.length) hidden.push(counted(rows.length - order.length, "row"));
    if (all > shown.length) hidden.push(counted(all - shown.length, "column"));
    const leftOut = hidden.length ? `; ${hidden.join(" and ")} of zeros left out` : "";
    const first = more.hidden ? "" : `the first ${count(MANY_ROWS)} of `;
    note.textContent = first + (left.length === order.length ? whole : `${count(left.length)} of ${whole}`) + leftOut;
  };
  const heads = shown.map((column) => {
    const sort = () => {
      const down = head.getAttribute("aria-sort") === (column.numeric ? "descending" : "ascending");
      const direction = down === column.numeric ? "ascending" : "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      order = sorted(order, rows, column, direction === "ascending" ? 1 : -1);
      fill();
    };
    const button = element("button", { type: "button", onclick: sort, ...explained(column.title.split(",")[0]) }, column.title);
    const head = element("th", { scope: "col", class: column.numeric ? "number" : undefined, "aria-sort": column === byCost ? "descending" : undefined }, button);
    return head;
  });
  filter.addEventListener("input", fill);
  body.addEventListener("keydown", (event) => moveRow(event, body, at));
  const grid = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  if (!order.length) grid.append(element("caption", {}, `This run has no ${name}.`));
  fill();
  onSelection(() => {
    const missing = (index) => order.includes(index) && !lines.get(index)?.isConnected;
    if (!isWhole && [...selection.rows[at]].some(missing)) fill();
    lines.forEach((line, index) => mark(line, isChosen(index)));
  });
  return element(
    "div",
    { class: "panel", "data-table": name, role: "tabpanel", "aria-label": name },
    element("div", { class: "controls" }, element("label", {}, "Filter ", filter), note, more),
    element("div", { class: "box" }, grid),
  );
}

/** How the values of a column are written. */
function writer({ title, isShare }, values) {
  if (title === "line") return (value) => String(value ?? "");
  if (isShare) return (value) => (value === null ? "" : (value * 100).toFixed(1));
  const format = values.every((value) => typeof value !== "number" || Number.isInteger(value)) ? integer : decimal;
  return (value) => (typeof value === "number" ? format.format(value) : (value ?? ""));
}

/** The numbers of rows by the values of a column; those without one come last. */
function sorted(order, rows, { value }, direction) {
  return [...order].sort((left, right) => {
    const [a, b] = [value(rows[left], left), value(rows[right], right)];
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (a < b ? -1 : Number(a > b));
  });
}

function moveRow(event, body, at) {
  const row = document.activeElement.closest("tr");
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    chooseRow(at, Number(row.dataset.row));
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const lines = [...body.children];
  moveFocus(body, lines[lines.indexOf(row) + step]);
}
