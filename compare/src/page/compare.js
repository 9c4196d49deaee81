// The page of a comparison: what changed by itself, the source with both costs, tables, observations, and what was compiled differently.

const { comparison } = data;

/** A change as words: `−175,512 (−13.8 %)`. */
function changeText({ before, after }, written = count) {
  const delta = after - before;
  if (!delta) return "unchanged";
  const sign = delta > 0 ? "+" : "−";
  const shown = `${sign}${written(Math.abs(delta))}`;
  return before ? `${shown} (${sign}${percent(Math.abs(delta), before)})` : `${shown} (new)`;
}

const thousandths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const inThousands = (number) => thousandths.format(number / 1000);

const direction = (before, after) => (after > before ? "grew" : after < before ? "shrank" : undefined);

function showHead() {
  const figure = (name, change, written = count) =>
    byId("figures").append(
      element("div", {}, element("dt", {}, name), element("dd", {}, `${written(change.before)} → ${written(change.after)} `, element("span", { class: direction(change.before, change.after) }, changeText(change, written)))),
    );
  figure("cycles", comparison.cycles);
  const { clock, synthesis } = comparison;
  const { time_ns: time, period_ps: period } = clock ?? synthesis ?? {};
  if (time) figure("µs", time, inThousands);
  if (period) figure("ns period", period, inThousands);
  if (synthesis) {
    figure("LUT", synthesis.luts);
    figure("FF", synthesis.ffs);
  }
  for (const note of comparison.notes.filter((note) => !note.startsWith("only the run "))) byId("notes").append(element("p", { class: "note" }, note));
  const longest = Math.max(1, comparison.cycles.before, comparison.cycles.after);
  for (const side of SIDES) {
    const parts = data.classes.map(([name, paint, change]) => {
      const part = element("span", { class: `paint-${paint}`, title: `${name}: ${count(change[side])}` });
      part.style.width = `${(change[side] * 100) / longest}%`;
      return change[side] ? [part] : [];
    });
    byId("bars").append(element("span", {}, side), element("div", { class: "share", "aria-hidden": "true" }, ...parts.flat()));
  }
  for (const [name, paint, change] of data.classes) {
    if (!change.before && !change.after) continue;
    const item = element("li", {}, element("span", { class: `paint-${paint}` }), `${name} `, element("strong", { class: direction(change.before, change.after) }, changeText(change)));
    byId("legend").append(item);
  }
}

const FIRST_CHANGES = 12;

/** What changed by itself: all rows together are the change of the run. */
function showChanges() {
  const most = Math.max(1, ...data.own.map(({ own: [before, after] }) => Math.abs(after - before)));
  const row = ({ name, fate, source, own: [before, after], parts }) => {
    const why = Object.entries(parts)
      .filter(([, [was, is]]) => was !== is)
      .sort(([, [a, b]], [, [c, d]]) => Math.abs(d - c) - Math.abs(b - a))
      .map(([what, [was, is]]) => `${what} ${inCycles(was)} → ${inCycles(is)}`);
    const bar = element("i", { class: direction(before, after) });
    bar.style.width = `${(Math.abs(after - before) * 100) / most}%`;
    const told = ["vanished", "new", "edited", "renamed"].includes(fate) ? `${fate}; ` : "";
    const pick = element(
      "button",
      { type: "button", class: "change", "data-name": name, onclick: () => chooseName(name) },
      element("span", { class: "name" }, name),
      element("span", { class: `delta ${direction(before, after) ?? ""}` }, change(before, after)),
      element("span", { class: "meter", "aria-hidden": "true" }, bar),
      element("span", { class: "why" }, told + why.join("; ")),
      ...(source ? [element("code", {}, source)] : []),
    );
    return element("li", {}, pick);
  };
  const list = element("ol", {}, ...data.own.slice(0, FIRST_CHANGES).map(row));
  byId("changes").append(
    element("h2", {}, "What changed by itself"),
    element("p", { class: "hint" }, "without what is inside: all together are the change of the run"),
    data.own.length ? list : element("p", {}, "nothing"),
  );
  if (data.own.length <= FIRST_CHANGES) return;
  const more = element("button", { type: "button" }, `${count(data.own.length - FIRST_CHANGES)} more`);
  more.addEventListener("click", () => {
    list.append(...data.own.slice(FIRST_CHANGES).map(row));
    more.remove();
    list.children[FIRST_CHANGES].querySelector("button").focus();
  });
  byId("changes").append(more);
}

/** The line on which a group is defined, `main.incr`: in the run after, or in the one before if it is no more there. */
function lineOfGroup(name) {
  const [component, group] = [name.split(".")[0], name.slice(name.indexOf(".") + 1)];
  let inside = "";
  for (const { lines } of data.files.filter(({ language }) => language === "calyx")) {
    for (const [before, after, text] of lines) {
      inside = /^\s*(?:static(?:<\d+>)?\s+|comb\s+)?component\s+([\w'-]+)/.exec(text)?.[1] ?? inside;
      const defined = /^\s*(?:static(?:<\d+>)?\s+|comb\s+)?group\s+([\w'-]+)/.exec(text)?.[1];
      if (inside === component && defined === group) return after ?? before;
    }
  }
  return 0;
}

/** Chooses a statement by its name, `main.while@L12`, or its label in a flame graph: its row, and its line of the source. */
function chooseName(name) {
  for (const row of document.querySelectorAll(".change, #table tbody tr")) {
    if (row.dataset.name === name || row.dataset.name.endsWith(`.${name}`)) {
      row.setAttribute("aria-current", "true");
      row.scrollIntoView({ block: "nearest" });
    } else row.removeAttribute("aria-current");
  }
  const line = Number(/@(?:.*:)?L(\d+)/.exec(name)?.[1]) || lineOfGroup(name);
  for (const row of document.querySelectorAll("#files tr[aria-current]")) row.removeAttribute("aria-current");
  if (!line) return;
  const file = /@(.+):L\d+/.exec(name)?.[1];
  const calyx = [...document.querySelectorAll("#files table[data-language='calyx']")];
  const table = calyx.find(({ dataset }) => (file ? dataset.name.includes(file) : true));
  // The name is that of the run after, unless it is no more there.
  const isGone = data.own.some((row) => row.name === name && row.fate === "vanished");
  const row = table?.querySelector(`tr[data-${isGone ? "before" : "after"}="${line}"]`);
  if (!row) return;
  sources.choose(table);
  row.setAttribute("aria-current", "true");
  reveal(byId("files"), row);
}

const sources = { choose: () => {} };

/** The source with both costs beside each line. */
function showSources() {
  const tables = data.files.map(({ name, language: of, lines, costs: [was, is] }) => {
    const titles = ["cycles before", "after", "own before", "after", "change", "line", name];
    const rows = lines.map(([before, after, text]) => {
      const [old, now] = [was[before], is[after]];
      const [a, b] = [old?.[1] ?? 0, now?.[1] ?? 0];
      const cells = [
        old ? count(old[0]) : "",
        now ? count(now[0]) : "",
        a ? inCycles(a) : "",
        b ? inCycles(b) : "",
        element("span", { class: direction(a, b) }, a === b ? "" : change(a, b)),
      ];
      const kind = before === null ? "added" : after === null ? "removed" : undefined;
      return element(
        "tr",
        { class: kind, "data-before": before ?? undefined, "data-after": after ?? undefined },
        ...cells.map((cell) => element("td", {}, cell)),
        element("th", { scope: "row" }, String(after ?? before)),
        element("td", { class: "code" }, text),
      );
    });
    const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
    return element("table", { class: "source", "data-name": name, "data-language": of }, element("thead", {}, head), element("tbody", {}, ...rows));
  });
  byId("files").append(...tables);
  if (!tables.length) byId("files").append(element("p", { class: "hint" }, "A baseline has no source: compare folders of profiles, or programs, to see it here."));
  const bar = byId("source").firstElementChild;
  const showTabs = (language) => {
    bar.querySelector("[role='tablist']")?.remove();
    const shown = tables.filter(({ dataset }) => language === "both" || dataset.language === language);
    const show = (chosen) => tables.forEach((table) => (table.hidden = table !== chosen));
    sources.choose = (table) => shown.includes(table) && show(table);
    show(shown[0]);
    if (shown.length < 2) return;
    const choose = tabs(bar, "Files", shown.map(({ dataset }) => dataset.name), (nth) => show(shown[nth]));
    bar.append(bar.querySelector(".enlarge"));
    sources.choose = (table) => shown.includes(table) && choose(shown.indexOf(table));
  };
  const languages = new Set(data.files.map(({ language }) => language));
  if (languages.size < 2) return showTabs("both");
  const options = Object.entries({ both: "both", "front-end": "front end", calyx: "Calyx" });
  const language = remembered.values.language ?? "both";
  const select = element("select", {}, ...options.map(([value, name]) => element("option", { value, selected: value === language ? "" : undefined }, name)));
  select.addEventListener("change", () => {
    remembered.set("language", select.value);
    showTabs(select.value);
  });
  bar.firstElementChild.after(element("label", {}, "Show ", select));
  showTabs(language);
}

/** What the rows of each table are. */
const ROWS = { "own changes": "changed by itself", statements: "statement", groups: "group", cells: "cell" };

/** The tables: name, cycles, and one more figure of each row that changed. */
const TABLES = {
  "own changes": {
    rows: data.own.map((row) => ({ ...row, cycles: { before: row.own[0] / 1000, after: row.own[1] / 1000 } })),
    columns: [["what changed", ({ parts }) => Object.keys(parts).join(", ")], ["source", ({ source }) => source]],
  },
  statements: { rows: comparison.statements, more: "overhead", columns: [["source", ({ source }) => source], ["front end", ({ front_end }) => front_end ?? ""]] },
  groups: { rows: comparison.groups, more: "times", columns: [["now", ({ now }) => now.join(", ")], ["no longer", ({ no_longer }) => no_longer.join(", ")]] },
  cells: { rows: comparison.cells, more: "control", columns: [] },
};

function showTables() {
  byId("table").addEventListener("keydown", (event) => {
    const row = event.target.closest("tbody tr");
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!row || (!step && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    if (step) moveFocus(byId("table").tBodies[0], row[step]);
    else chooseName(row.dataset.name);
  });
  const names = Object.keys(TABLES);
  tabs(byId("tables").firstElementChild, "Tables", names, (nth) => showTable(names[nth], "change", false));
}

/** A table, sorted by a column: what changed most first, unless asked otherwise. */
function showTable(name, by, ascending) {
  const { rows, more, columns } = TABLES[name];
  // All of a table's figures have decimals, or none has.
  const isWhole = rows.every(({ cycles }) => Number.isInteger(cycles.before) && Number.isInteger(cycles.after));
  const written = (number) => (number === 0 ? "" : (isWhole ? integer : decimal).format(number));
  const difference = ({ before, after }) => (before === after ? "" : `${after > before ? "+" : "−"}${written(Math.abs(after - before))}`);
  const figures = (title, of) => [
    { title: `${title} before`, value: (row) => of(row).before, shown: (row) => written(of(row).before) },
    { title: `${title} after`, value: (row) => of(row).after, shown: (row) => written(of(row).after) },
    { title: title === "cycles" ? "change" : `${title}, change`, value: (row) => Math.abs(of(row).after - of(row).before), shown: (row) => difference(of(row)), of },
  ];
  const all = [
    { title: ROWS[name], value: (row) => row.name },
    ...figures("cycles", (row) => row.cycles),
    ...(more ? figures(more, (row) => row[more]) : []),
    { title: "what became of it", value: ({ fate, was }) => (fate === "same" ? "" : was ? `${fate}, was ${was}` : fate) },
    ...columns.map(([title, value]) => ({ title, value })),
  ];
  const told = all.filter((column, nth) => nth < 4 || rows.some((row) => ![undefined, null, "", 0].includes(column.value(row))));
  const column = told.find(({ title }) => title === by) ?? told[3];
  const order = [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    return (ascending ? 1 : -1) * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
  });
  const head = told.map(({ title, shown }) => {
    const isBy = title === column.title;
    const sort = isBy ? (ascending ? "ascending" : "descending") : undefined;
    const again = () => {
      showTable(name, title, isBy && !ascending);
      byId("table").querySelector("th[aria-sort] button").focus();
    };
    return element("th", { scope: "col", class: shown ? "number" : undefined, "aria-sort": sort }, element("button", { type: "button", onclick: again }, title));
  });
  const lines = order.map((row, at) =>
    element(
      "tr",
      { tabindex: at ? "-1" : "0", "data-name": row.name, onclick: () => chooseName(row.name) },
      ...told.map(({ value, shown, of }, nth) => {
        const text = shown ? shown(row) : value(row);
        const kind = of ? direction(of(row).before, of(row).after) : undefined;
        return element(nth ? "td" : "th", { scope: nth ? undefined : "row", class: [shown ? "number" : "", kind ?? ""].join(" ").trim() || undefined }, text);
      }),
    ),
  );
  byId("table").replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
}

/** Latencies with their histograms over one another, counters, and how often memories are accessed. */
function showObservations({ latencies = [], counters = [], accesses = [], checkpoints = [], order }) {
  const measured = ({ before, after }) => (before === null ? `new: ${count(after)}` : after === null ? `${count(before)}, gone` : before === after ? count(after) : `${count(before)} → ${count(after)}`);
  const figure = ({ name, histogram: bars, ...row }) => {
    const points = (side) => Object.entries(bars).flatMap(([at, counts]) => (counts[side] ? [[Number(at), counts[side]]] : []));
    const series = SIDES.map((side, nth) => ({ name: side, paint: side, points: points(nth) }));
    const figures = ["count", "median", "p99", "max", "over_shortest"].filter((key) => row[key] && (row[key].before !== null || row[key].after !== null));
    const table = element("table", {}, element("tbody", {}, ...figures.map((key) => element("tr", {}, element("th", { scope: "row" }, key.replace("_", " ")), element("td", {}, measured(row[key]))))));
    const picture = histogram(`${name}: cycles, before and after`, "cycles", series, (side, at, value) => `${side}: ${count(value)} took ${count(at)} cycles`);
    return element("section", {}, element("h3", {}, name), element("div", { class: "measured" }, table, picture));
  };
  const list = (title, rows, of) => (rows.length ? [element("section", {}, element("h3", {}, title), element("table", {}, element("tbody", {}, ...rows.map((row) => element("tr", {}, element("th", { scope: "row" }, row.name), element("td", { class: "number" }, measured(row[of])))))))] : []);
  byId("observations").append(
    element("h2", {}, "Observations"),
    element("p", { class: "hint" }, element("span", { class: "swatch shrank-box" }), " before ", element("span", { class: "swatch grew-box" }), " after, over one another"),
    ...latencies.filter(({ histogram: bars }) => Object.keys(bars).length).map(figure),
    ...list("counters", counters, "total"),
    ...list("memories: reads", accesses, "reads"),
    ...list("memories: writes", accesses, "writes"),
    ...list("checkpoints: stamps", checkpoints, "stamps"),
  );
  if (order?.alignment?.length) byId("observations").append(element("h3", {}, "order of checkpoints"), element("pre", { class: "diff" }, ...order.alignment.map(([sign, name]) => element("span", { class: { "-": "minus", "+": "plus" }[sign] }, `${sign} ${name}`))));
}

/** What was compiled differently, in words: passes, and what they did to which groups. */
function showCompiled() {
  const box = byId("compiled");
  const [before, after] = data.passes;
  const passes = (names, which) => (names.length ? [element("p", {}, `Only ${which} was compiled with: `, element("code", {}, names.join(", ")))] : []);
  box.append(element("h2", {}, "Compiled differently"), ...passes(before, "the run before"), ...passes(after, "the run after"));
  const effects = new Map();
  for (const { name, now, no_longer: past } of comparison.groups) {
    for (const [list, verb] of [[now, "now"], [past, "no longer"]]) {
      for (const effect of list) {
        const key = `${verb} ${effect}`;
        if (!effects.has(key)) effects.set(key, { verb, effect, names: [] });
        effects.get(key).names.push(name);
      }
    }
  }
  const rows = [...effects.values()].map(({ verb, effect, names }) => {
    const meaning = data.terms[effect.split(" ")[0]];
    return element("li", {}, element("strong", {}, `${verb} ${effect}`), `: ${names.join(", ")}`, ...(meaning ? [element("p", { class: "hint" }, meaning)] : []));
  });
  box.append(rows.length ? element("ul", {}, ...rows) : element("p", {}, before.length || after.length ? "The groups were compiled alike." : "Both runs were compiled alike: the difference is that of the programs, or of their data."));
}

const hasObservations = Object.keys(comparison.observations ?? {}).length > 0;
const VIEWS = [["flames", "Flame graphs"], ["tables", "Tables"], ["observations", "Observations"], ["compiled", "Compiled differently"]].filter(([id]) => id !== "observations" || hasObservations);

function openView(nth) {
  for (const view of document.querySelectorAll("#upper > .view")) view.hidden = view.id !== VIEWS[nth][0];
  if (VIEWS[nth][0] === "flames") drawFlames();
}

showPanes();
showHead();
showChanges();
showSources();
showTables();
if (hasObservations) showObservations(comparison.observations);
showCompiled();
showFlames();
const showView = tabs(byId("views"), "Views", VIEWS.map(([, name]) => name), openView, VIEWS.map(([id]) => id));
byId("views").append(byId("views").querySelector(".enlarge"));
showTheme(() => {});
byId("help").addEventListener("click", () => byId("keys").showModal());
if (data.own.length) chooseName(data.own[0].name);
document.addEventListener("keydown", (event) => {
  if (byId("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest("input, select");
  if (event.key === "?" && !isTyping) byId("keys").showModal();
  else if (event.key === "/" && !isTyping) {
    event.preventDefault();
    showView(0);
    byId("search").focus();
  } else if (!isTyping && event.key >= "1" && event.key <= String(VIEWS.length)) showView(Number(event.key) - 1);
  else if (enlargeKey(event)) event.preventDefault();
  else if (event.key === "Escape" && !reduce()) {
    byId("search").value = "";
    flames.wanted = "";
    zoomTo(null);
  }
});
