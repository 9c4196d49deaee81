// The accesses of memories by address and time.

/** The accesses of a memory: addresses from top to bottom, time from left to right; a cell leads to its cycles. */
function heatMap({ name, words: [first, end], words_each: rowHas, cycles, cycles_each: columnHas, cells }) {
  const [left, bottom, top, right] = [46, 34, 4, 12];
  const [rows, columns] = [Math.ceil((end - first) / rowHas), Math.ceil(cycles / columnHas)];
  const [cellWidth, cellHeight] = [Math.min(14, 480 / columns), Math.max(4, Math.min(14, 160 / rows))];
  const [wide, high] = [columns * cellWidth, rows * cellHeight];
  const most = Math.max(...cells.map(([, , reads, writes]) => Math.max(reads, writes)));
  const shade = (times) => 0.25 + (0.75 * times) / most;
  const span = (from, each, end) => (Math.min(from + each, end) - from > 1 ? `${count(from)}–${count(Math.min(from + each, end) - 1)}` : count(from));
  const drawn = cells.map(([row, column, reads, writes]) => {
    const [x, y] = [left + column * cellWidth, top + row * cellHeight];
    // Where both are, each has half of the cell.
    const high = reads && writes ? cellHeight / 2 : cellHeight;
    const part = (paint, times, below) => (times ? [svg("rect", { class: paint, x, y: y + below, width: cellWidth, height: high, "fill-opacity": shade(times) })] : []);
    const told = `${rowHas > 1 ? "words" : "word"} ${span(first + row * rowHas, rowHas, end)}, ${columnHas > 1 ? "cycles" : "cycle"} ${span(column * columnHas, columnHas, cycles)}: ${count(reads)} read, ${count(writes)} written`;
    const onclick = () => {
      showView("timeline");
      chooseCycle(column * columnHas);
    };
    return svg("g", { onclick }, ...part("bar", reads, 0), ...part("written", writes, reads ? high : 0), svg("title", {}, told));
  });
  const text = (value, attributes) => svg("text", attributes, value);
  const [width, height] = [left + Math.max(wide, 150) + right, top + Math.max(high, 22) + bottom];
  const axis = top + high;
  const picture = svg(
    "svg",
    { class: "heat", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `accesses of ${name} by address and time` },
    ...drawn,
    svg("line", { class: "axis", x1: left, x2: left + wide, y1: axis, y2: axis }),
    svg("line", { class: "axis", x1: left, x2: left, y1: top, y2: axis }),
    text(count(first), { x: left - 4, y: top + 9, "text-anchor": "end" }),
    ...(rows > 1 ? [text(count(end - 1), { x: left - 4, y: Math.max(axis, top + 22), "text-anchor": "end" })] : []),
    text("0", { x: left, y: axis + 13 }),
    text(count(cycles), { x: left + wide, y: axis + 13, "text-anchor": "end" }),
    text("cycle", { x: left + wide, y: axis + 27, "text-anchor": "end" }),
  );
  const key = (paint, word) => [element("span", { class: `key ${paint}` }), ` ${word} `];
  return element("figure", {}, element("figcaption", {}, element("strong", {}, name), " words over time: ", ...key("bar", "read"), ...key("written", "written")), picture);
}
