// The tables, one in sight at a time: sorted by a click on a heading, filtered by a text.

/** What matters most, after the name: these columns come first. */
const FIRST_COLUMNS = ["cycles", "total cycles", "overhead", SHARE, "times entered", "times active"];

const panels = [];

function showTables() {
  data.tables.forEach((table, at) => panels.push(tablePanel(table, at)));
  const order = ["control", "groups", "cells"].map((name) => data.tables.findIndex((table) => table.name === name));
  const names = order.map((at) => data.tables[at].name);
  const choose = tabs(byId("tables").firstElementChild, "Tables", names, (nth) => {
    for (const panel of panels) panel.hidden = panel.dataset.table !== names[nth];
  });
  byId("tables").append(...panels);
  choose(0);
  onSelection(() => {
    const chosen = (name) => selection.rows[data.tables.findIndex((table) => table.name === name)].size > 0;
    const now = panels.find((panel) => !panel.hidden).dataset.table;
    const next = names.find(chosen);
    if (next && !chosen(now)) choose(names.indexOf(next));
    const panel = panels.find((other) => !other.hidden);
    const first = [...panel.querySelectorAll("tr[aria-current]")].find((row) => !row.hidden);
    if (first) reveal(panel.querySelector(".box"), first);
  });
}

/** The columns as they are shown: the name with its component, what matters, the rest without what is 0 everywhere. */
function columnsOf(table) {
  const { columns } = table;
  const index = (name) => columns.findIndex(([title]) => title === name);
  const key = index(keyColumn(table.name));
  const component = index("component");
  const name = (row) => (table.name === "cells" ? row[key] : `${row[component]}.${row[key]}`);
  const shown = [{ title: keyColumn(table.name), value: name, numeric: false }];
  const weight = index("overhead") >= 0 ? index("overhead") : Math.max(index("total cycles"), index("cycles"));
  const share = { title: SHARE, value: (row) => row[weight] / data.cycles, numeric: true };
  const others = columns.map(([title, numeric], at) => ({ title, value: (row) => row[at], numeric }));
  const rest = others.filter((_, at) => at !== key && (at !== component || table.name === "cells"));
  const first = FIRST_COLUMNS.flatMap((title) => (title === SHARE ? [share] : rest.filter((column) => column.title === title)));
  shown.push(...first, ...rest.filter((column) => !first.includes(column)));
  const told = ({ value }) => table.rows.some((row) => row && ![null, 0, ""].includes(value(row)));
  const important = ({ title }) => shown[0].title === title || ["cycles", "overhead", SHARE].includes(title);
  return { shown: shown.filter((column) => important(column) || told(column)), all: shown.length };
}

function tablePanel(table, at) {
  const { name, rows } = table;
  const { shown, all } = columnsOf(table);
  const write = shown.map((column) => writer(column, rows.map(column.value)));
  const body = element("tbody");
  const lines = rows.map((row, index) => {
    const cells = shown.map((column, nth) => {
      const tag = nth ? "td" : "th";
      const attributes = { scope: nth ? undefined : "row", class: column.numeric ? "number" : undefined };
      return element(tag, attributes, write[nth](column.value(row)));
    });
    const line = element("tr", { tabindex: "-1", "data-row": index }, ...cells);
    line.addEventListener("click", () => chooseRow(at, index));
    return line;
  });
  const active = lines.filter((_, index) => isActive(table, index));
  const heads = shown.map((column) => {
    const sort = () => {
      const down = head.getAttribute("aria-sort") === (column.numeric ? "descending" : "ascending");
      const direction = down === column.numeric ? "ascending" : "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      body.append(...sorted(active, rows, column, direction === "ascending" ? 1 : -1));
    };
    const button = element("button", { type: "button", onclick: sort, ...explained(column.title) }, column.title);
    const head = element("th", { scope: "col", class: column.numeric ? "number" : undefined }, button);
    return head;
  });
  const note = element("output", {});
  const filter = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const narrow = () => {
    const wanted = filter.value.toLowerCase();
    let left = 0;
    for (const line of active) {
      const row = rows[line.dataset.row];
      const texts = [...row, shown[0].value(row)];
      line.hidden = !texts.some((value) => String(value ?? "").toLowerCase().includes(wanted));
      left += line.hidden ? 0 : 1;
    }
    const whole = counted(active.length, "row");
    const hidden = [];
    if (lines.length > active.length) hidden.push(counted(lines.length - active.length, "row"));
    if (all > shown.length) hidden.push(counted(all - shown.length, "column"));
    const leftOut = hidden.length ? `; ${hidden.join(" and ")} of zeros left out` : "";
    note.textContent = (left === active.length ? whole : `${count(left)} of ${whole}`) + leftOut;
  };
  filter.addEventListener("input", narrow);
  body.append(...active);
  active[0]?.setAttribute("tabindex", "0");
  body.addEventListener("keydown", (event) => moveRow(event, body, at));
  const grid = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  if (!active.length) grid.append(element("caption", {}, `This run has no ${name}.`));
  narrow();
  onSelection(() => lines.forEach((line, index) => mark(line, selection.rows[at].has(index))));
  return element(
    "div",
    { class: "panel", "data-table": name, role: "tabpanel", "aria-label": name },
    element("div", { class: "controls" }, element("label", {}, "Filter ", filter), note),
    element("div", { class: "box" }, grid),
  );
}

/** How the values of a column are written. */
function writer({ title }, values) {
  if (title === "line") return (value) => String(value ?? "");
  if (title === SHARE) return (value) => (value * 100).toFixed(1);
  const format = values.every((value) => typeof value !== "number" || Number.isInteger(value))
    ? integer
    : decimal;
  return (value) => (typeof value === "number" ? format.format(value) : (value ?? ""));
}

/** The lines by the values of a column; those without one come last. */
function sorted(lines, rows, { value }, direction) {
  const of = (line) => value(rows[line.dataset.row]);
  return [...lines].sort((left, right) => {
    const [a, b] = [of(left), of(right)];
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
  const visible = [...body.children].filter((line) => !line.hidden);
  moveFocus(body, visible[visible.indexOf(row) + step]);
}
