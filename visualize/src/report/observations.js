// What was observed: the first rows of each table, with pictures of how long and how often beside it.

function showObservations({ tables, histograms, samples, spreads = [], heat = [] }) {
  const pictures = {
    latenc: histograms.map((series) => picture(series, "cycles that it took", (name, at, value) => `${name}: ${count(value)} took ${count(at)} cycles`)),
    "accesses of memories": heat.map((of) => heatMap(of)),
    samples: spreads.map((series) => picture(series, `${series.unit} in a sample`, (name, at, value) => `${name}: ${count(at)} in ${count(value)}`)),
    counter: samples.map((series) => picture(series, "from this cycle on", (name, at, value) => `${name}: ${count(value)} from cycle ${count(at)} on`)),
  };
  const beside = (title) => {
    const key = Object.keys(pictures).find((word) => title.toLowerCase().includes(word));
    return key ? pictures[key].splice(0) : [];
  };
  const sections = tables.map(({ title, header, rows, all }) => {
    const isNumber = (column) => rows.every((row) => row[column] === "" || !Number.isNaN(Number(row[column])));
    const classOf = header.map((_, column) => (isNumber(column) ? "number" : "code"));
    const head = header.map((name, column) => element("th", { scope: "col", class: classOf[column] }, name));
    const line = (row) => element("tr", {}, ...row.map((cell, column) => element("td", { class: classOf[column] }, ...linked(header[column], cell))));
    const rest = rows.length < all ? `; the first ${count(rows.length)} of ${count(all)} rows, all are in the folder observations` : "";
    const table = element("table", { tabindex: "0" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map(line)));
    return element("section", {}, element("h3", {}, title + rest), element("div", { class: "measured" }, table, element("div", { class: "measured" }, ...beside(title))));
  });
  byId("observations").append(element("h2", {}, "Observations"), ...sections, element("div", { class: "measured" }, ...Object.values(pictures).flat()));
}

function picture(series, unit, told) {
  return element("figure", {}, element("figcaption", {}, element("strong", {}, series.name)), histogram(series.name, unit, [{ ...series, paint: "bar" }], told));
}

/** A cell of a table of observations: cycles lead to the timeline, paths to the frames of the flame graph, and so to the source. */
function linked(column, cell) {
  const button = (text, onclick) => element("button", { type: "button", class: "link", onclick }, text);
  const text = /^\d+$/.test(cell) ? count(Number(cell)) : cell;
  if (["t(i)", "cycle", "first cycle", "max at"].includes(column) && cell !== "") {
    const go = () => {
      showView("timeline");
      chooseCycle(Number(cell));
    };
    return [button(text, go)];
  }
  if (!["active", "by"].includes(column)) return [text];
  return cell.split(" | ").flatMap((path, at) => {
    const frame = frameAt(path);
    return [at ? " | " : "", frame === undefined ? path : button(path, () => chooseFrame(frame))];
  });
}

/** The frame at the end of a path through the call tree. */
function frameAt(path) {
  const names = path.split(" > ");
  const named = (nodes, name) => nodes.find((node) => fullName(frameOf(node)) === name);
  const node = names.reduce((node, name) => named(node === undefined ? [] : node === null ? [0] : childrenOf[node], name), null);
  return node === undefined ? undefined : data.nodes.frames[node];
}
