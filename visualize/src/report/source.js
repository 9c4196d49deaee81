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
    const head = ["cycles", "useful", "overhead", "line", file.name].map((title) =>
      element("th", { scope: "col" }, title),
    );
    byId("files").append(
      element("table", { class: "source" }, element("thead", {}, element("tr", {}, ...head)), body),
    );
  });
  const files = byId("files");
  files.querySelector("button")?.setAttribute("tabindex", "0");
  files.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const lines = [...files.querySelectorAll("button")];
    moveFocus(files, lines[lines.indexOf(document.activeElement) + step]);
  });
  onSelection(() => {
    for (const row of files.querySelectorAll("tr[data-line]")) mark(row, selection.lines.has(row.dataset.line));
    const [key] = selection.lines;
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
