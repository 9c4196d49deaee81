// What costs: the ranked lists beside the views.

/** So many of a list are there until all are asked for. */
const FIRST_RANKS = 8;

/** What the lists are of, and how what they count is called. */
const LISTS = {
  "what costs": { told: "every cycle that is no computation", unit: "" },
  "longest waits in par": { told: "arms that had ended; the others went on", unit: "cycles" },
  "steps that could run at once": { told: "what that saves at most", unit: "cycles" },
  "steps that share hardware": { told: "what they could save at most, were it not for that", unit: "cycles" },
  "most expensive groups": { told: "cycles in which they were active", unit: "" },
};

function showRanks() {
  const lists = new Map([["what costs", []]]);
  for (const hotspot of data.hotspots) {
    if (!lists.has(hotspot.list)) lists.set(hotspot.list, []);
    lists.get(hotspot.list).push({ ...hotspot, table: 2, times: hotspot.times });
  }
  lists.set("most expensive groups", groups());
  for (const [title, ranked] of lists) rank(title, ranked);
  onSelection(() => {
    for (const row of document.querySelectorAll(".rank")) mark(row, selection.rows[row.dataset.table]?.has(Number(row.dataset.row)));
  });
}

/** The five groups of the source with the most cycles. */
function groups() {
  const { columns, rows } = data.tables[1];
  const value = (row, column) => rows[row][columns.findIndex(([title]) => title === column)];
  return rows
    .map((_, row) => ({ table: 1, row, cost: value(row, "total cycles"), name: rowName(1, row) }))
    .filter(({ row, cost }) => cost > 0 && value(row, "origin") !== "compiler")
    .sort((a, b) => b.cost - a.cost)
    .slice(0, 5);
}

/** A list: the first rows, and the others when they are asked for. */
function rank(title, ranked) {
  const { told, unit } = LISTS[title];
  const most = Math.max(1, ...ranked.map(({ cost }) => cost));
  const list = element("ol", { class: "ranked" });
  const show = (rows) => list.append(...rows.map((row) => rankRow(row, most, unit)));
  show(ranked.slice(0, FIRST_RANKS));
  const section = element("section", {}, element("h2", {}, termOf(title, title[0].toUpperCase() + title.slice(1))), element("p", { class: "hint" }, told), list);
  if (!ranked.length) list.append(element("li", {}, "none"));
  if (ranked.length > FIRST_RANKS) {
    const more = element("button", { type: "button" }, `${count(ranked.length - FIRST_RANKS)} more`);
    more.addEventListener("click", () => {
      more.remove();
      show(ranked.slice(FIRST_RANKS));
      list.children[FIRST_RANKS].querySelector("button").focus();
    });
    section.append(more);
  }
  if (title === "what costs") section.append(...nextStep());
  byId("ranks").append(section);
}

function rankRow({ table, row, name, cost, conditions = 0, why, times, source, front, guide }, most, unit) {
  const part = (paint, cycles) => {
    const bar = element("i", { class: `paint-${paint}` });
    bar.style.width = `${(cycles * 100) / most}%`;
    return cycles ? [bar] : [];
  };
  const isCost = conditions > 0 || table === 2;
  const paints = [...part("conditions", conditions), ...part(isCost && !unit ? "fsm-update" : "control", cost - conditions)];
  const text = front && language() !== "calyx" ? front : source;
  const hint = times === undefined || times === null ? undefined : `entered ${count(times)} times; ${guide} tells more`;
  const pick = element(
    "button",
    { type: "button", class: "rank", "data-table": table, "data-row": row, title: hint, onclick: () => chooseRow(table, row) },
    element("span", { class: "name" }, name),
    element("span", { class: "share" }, element("small", {}, count(cost), unit ? ` ${unit}` : ""), unit ? "" : percent(cost, data.cycles)),
    element("span", { class: "meter", "aria-hidden": "true" }, ...paints),
    ...(why ? [element("span", { class: "why" }, ...prose(why))] : []),
    ...(text ? [element("code", { class: "text" }, text)] : []),
  );
  const advice = isCost && !unit ? adviceFor(name) : [];
  return element("li", {}, pick, ...advice);
}

/** What `petal advise` found for a statement: a button that leads there. */
function adviceFor(name) {
  const found = (data.advice?.advice ?? []).filter(({ place }) => place === name);
  return found.map((item) =>
    element("button", { type: "button", class: `badge ${item.class === "proved" ? "plus" : "checked"}`, onclick: () => openAdvice(item.number) }, `advise: −${item.percent.toFixed(1)} %, ${item.class}`),
  );
}

/** The command that tries changes, unless they were tried. */
function nextStep() {
  if (data.advice || data.stopped.length || !data.files.length) return [];
  const command = `petal advise ${data.files[0].name}`;
  return [element("p", { class: "next" }, element("code", {}, command), copyButton(() => command))];
}

/** A button that copies a text. */
function copyButton(text) {
  const button = element("button", { type: "button" }, "Copy");
  const told = (word) => {
    button.textContent = word;
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      told("Copied");
    } catch {
      told(copySelected(text()) ? "Copied" : "Not allowed");
    }
  });
  return button;
}

/** Copies as a user does, where the page may not write to the clipboard. */
function copySelected(text) {
  const area = element("textarea", { "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
