// Bars with axes: how often what happened, of one run or of several over one another.

/** Bars of each series, `{ name, points: [[at, value]], paint }`, over one axis. `told` gets a name, a place and a value. */
function histogram(label, unit, series, told) {
  const [width, height, left, bottom, top] = [340, 120, 46, 30, 8];
  const all = series.flatMap(({ points }) => points);
  const places = all.map(([at]) => at);
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const most = Math.max(1, ...all.map(([, value]) => value));
  const room = width - left - 12;
  const distinct = [...new Set(places)].sort((a, b) => a - b);
  const gap = Math.min(...distinct.slice(1).map((at, nth) => at - distinct[nth]), Math.max(1, last - first));
  const each = Math.max(1.5, Math.min(18, (gap / Math.max(1, last - first + gap)) * room));
  const x = (at) => left + (last === first ? 0.5 : (at - first) / (last - first)) * (room - each);
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  const bars = series.flatMap(({ name, points, paint }) =>
    points.map(([at, value]) => svg("rect", { class: paint, x: x(at), y: y(value), width: each, height: height - bottom - y(value) }, svg("title", {}, told(name, at, value)))),
  );
  const text = (value, attributes) => svg("text", attributes, value);
  const axis = height - bottom;
  const ticks = first === last ? [first] : [first, Math.round((first + last) / 2), last];
  return svg(
    "svg",
    { class: "histogram", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    svg("line", { class: "axis", x1: left, x2: width - 12, y1: axis, y2: axis }),
    svg("line", { class: "axis", x1: left, x2: left, y1: top, y2: axis }),
    ...bars,
    text(count(most), { x: left - 4, y: top + 8, "text-anchor": "end" }),
    text("0", { x: left - 4, y: axis, "text-anchor": "end" }),
    ...ticks.map((tick, nth) => text(count(tick), { x: x(tick) + each / 2, y: axis + 13, "text-anchor": ticks.length === 1 || nth === 1 ? "middle" : nth ? "end" : "start" })),
    text(unit, { x: width - 12, y: height - 4, "text-anchor": "end" }),
  );
}
