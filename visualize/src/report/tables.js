// The tables: sorted by a click on a heading, filtered by a text.

function showTables() {
  data.tables.forEach((_, at) => showTable(at));
}

function showTable(at) {
  const { name, columns, rows } = data.tables[at];
  const told = (column) => rows.some((row) => row[column] !== null && row[column] !== 0 && row[column] !== "");
  const shown = columns.map((_, column) => column).filter((column) => rows.length === 0 || told(column));
  const write = shown.map((column) => writer(columns[column][0], rows.map((row) => row[column])));
  const body = element("tbody");
  const lines = rows.map((row, index) => {
    const cells = shown.map((column, nth) => {
      const attributes = columns[column][1] ? { class: "number" } : {};
      return element("td", attributes, write[nth](row[column]));
    });
    const line = element("tr", { tabindex: "-1", "data-row": index }, ...cells);
    line.addEventListener("click", () => chooseRow(at, index));
    return line;
  });
  const heads = shown.map((column) => {
    const [title, numeric] = columns[column];
    const sort = () => {
      const down = head.getAttribute("aria-sort") === (numeric ? "descending" : "ascending");
      const direction = down === numeric ? "ascending" : "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      body.append(...sorted(lines, rows, column, direction === "ascending" ? 1 : -1));
    };
    const button = element("button", { type: "button", onclick: sort }, title);
    const head = element("th", { scope: "col", class: numeric ? "number" : "" }, button);
    return head;
  });
  const note = element("output", {});
  const filter = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const narrow = () => {
    const wanted = filter.value.toLowerCase();
    let left = 0;
    lines.forEach((line, index) => {
      line.hidden = !rows[index].some((value) => String(value ?? "").toLowerCase().includes(wanted));
      left += line.hidden ? 0 : 1;
    });
    const whole = counted(lines.length, "row");
    const hidden = columns.length - shown.length;
    const columnsNote = hidden ? `; ${counted(hidden, "column")} without values left out` : "";
    note.textContent = (left === lines.length ? whole : `${count(left)} of ${whole}`) + columnsNote;
  };
  filter.addEventListener("input", narrow);
  body.append(...lines);
  lines[0]?.setAttribute("tabindex", "0");
  body.addEventListener("keydown", (event) => moveRow(event, body, at));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  const box = element("div", { class: "box", "data-table": name }, table);
  if (!rows.length) table.append(element("caption", {}, `This design has no ${name}.`));
  byId("tables").append(
    element("h3", {}, name),
    element("div", { class: "controls" }, element("label", {}, "Filter ", filter), note),
    box,
  );
  narrow();
  onSelection(() => {
    lines.forEach((line, index) => mark(line, selection.rows[at].has(index)));
    const first = body.querySelector("[aria-current]:not([hidden])");
    if (first) reveal(box, first);
  });
}

/** How the values of a column are written. */
function writer(title, values) {
  if (title === "line") return (value) => String(value ?? "");
  const format = values.every((value) => typeof value !== "number" || Number.isInteger(value))
    ? integer
    : decimal;
  return (value) => (typeof value === "number" ? format.format(value) : (value ?? ""));
}

/** The lines by the values of a column; those without one come last. */
function sorted(lines, rows, column, direction) {
  const value = (line) => rows[line.dataset.row][column];
  return [...lines].sort((left, right) => {
    const [a, b] = [value(left), value(right)];
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
