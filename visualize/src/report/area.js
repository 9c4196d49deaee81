// Area against cycles: what is large and idle, what is small and busy.

/** Rows of the tables of groups and control that take look-up tables, with their cycles. */
function areaPoints() {
  return [1, 2].flatMap((at) => {
    const { columns, rows } = data.tables[at];
    const index = (title) => columns.findIndex(([other]) => other === title);
    const [luts, ffs, slack, cycles] = ["LUT", "FF", "slack, ns", at === 1 ? "total cycles" : "cycles"].map(index);
    const points = rows.map((row, nth) => ({ at, nth, name: rowName(at, nth), luts: row[luts] ?? 0, ffs: row[ffs] ?? 0, slack: row[slack], cycles: row[cycles] ?? 0 }));
    return points.filter(({ luts, ffs }) => luts + ffs > 0);
  });
}

/** So many of the largest and of the busiest have their names beside them. */
const NAMED_POINTS = 4;

function showArea({ device, has_memories: inside, fmax_mhz: fmax, luts, ffs }) {
  const points = areaPoints();
  const whole = [`${count(luts)} LUT, ${count(ffs)} FF on ${device}, memories ${inside ? "inside" : "outside"}`, ...(fmax ? [`${fmax.toFixed(1)} MHz`] : [])];
  byId("luts").append(
    element("h2", {}, "Area"),
    element("p", {}, whole.join("; "), ". A ring is a group with its multiplexers and guards, a disc a statement with the control that the compiler made for it."),
    points.length ? areaPicture(points) : element("p", {}, "No group or statement takes look-up tables of its own."),
  );
}

function areaPicture(points) {
  // As wide as there is room, so that words keep their size.
  const [width, height] = [Math.min(760, Math.max(320, byId("upper").clientWidth - 32)), 330];
  const margin = { left: 52, right: 24, top: 24, bottom: 40 };
  const most = (key) => Math.max(1, ...points.map((point) => point[key]));
  const [mostLuts, mostCycles] = [most("luts"), most("cycles")];
  // Roots spread what is small, of which there is most.
  const x = (value) => margin.left + Math.sqrt(value / mostLuts) * (width - margin.left - margin.right);
  const y = (value) => height - margin.bottom - Math.sqrt(value / mostCycles) * (height - margin.top - margin.bottom);
  const axis = (from, to) => svg("line", { class: "axis", x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
  const label = (text, attributes) => svg("text", attributes, text);
  const ticks = (whole) => [...new Set([0.1, 0.25, 0.5, 1].map((part) => Math.round(part * whole)))].filter(Boolean);
  const told = ({ name, luts, ffs, slack, cycles }) =>
    `${name}: ${counted(cycles, "cycle")}, ${count(luts)} LUT, ${count(ffs)} FF${slack === null ? "" : `, slack ${slack.toFixed(2)} ns`}`;
  const named = new Set(["luts", "cycles"].flatMap((key) => [...points].sort((a, b) => b[key] - a[key]).slice(0, NAMED_POINTS)));
  // What would lie under another one stands beside it.
  const places = new Map();
  for (const point of points) {
    const key = `${point.luts}/${point.cycles}`;
    const before = places.get(key) ?? 0;
    places.set(key, before + 1);
    point.left = x(point.luts) + before * 10;
    point.top = y(point.cycles);
  }
  // A name stands on the side where neither another name nor a point is.
  const taken = [];
  const isFree = (point, { from, to, top }) =>
    from > margin.left &&
    to < width &&
    !taken.some((other) => Math.abs(other.top - top) < 13 && other.from < to && from < other.to) &&
    !points.some((other) => other !== point && Math.abs(other.top - top) < 12 && other.left + 6 > from && other.left - 6 < to);
  const name = (point) => {
    if (!named.has(point)) return [];
    const { left, top } = point;
    const wide = point.name.length * 7;
    const right = { from: left + 9, to: left + 9 + wide, top };
    const box = [right, { from: left - 9 - wide, to: left - 9, top }].find((side) => isFree(point, side));
    if (!box) return [];
    taken.push(box);
    return [label(point.name, { x: box === right ? box.from : box.to, y: top + 4, "text-anchor": box === right ? "start" : "end", class: "name" })];
  };
  const dots = points.map((point) => {
    const pick = () => chooseRow(point.at, point.nth);
    const onkey = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    };
    const shape = { cx: point.left, cy: point.top, r: 6, class: point.at === 1 ? "group" : "control", "data-row": point.nth, "data-table": point.at };
    return svg("circle", { ...shape, tabindex: 0, role: "button", "aria-label": told(point), onclick: pick, onkeydown: onkey }, svg("title", {}, told(point)));
  });
  onSelection(() => {
    dots.forEach((dot, nth) => mark(dot, selection.rows[points[nth].at]?.has(points[nth].nth)));
  });
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Area against cycles" },
    axis([margin.left, height - margin.bottom], [width - margin.right, height - margin.bottom]),
    axis([margin.left, margin.top], [margin.left, height - margin.bottom]),
    ...ticks(mostLuts).map((value) => label(count(value), { x: x(value), y: height - margin.bottom + 15, "text-anchor": "middle" })),
    ...ticks(mostCycles).map((value) => label(count(value), { x: margin.left - 6, y: y(value) + 4, "text-anchor": "end" })),
    label("look-up tables →", { x: width - margin.right, y: height - 6, "text-anchor": "end" }),
    label("cycles ↑", { x: 4, y: 12 }),
    label("small and busy", { x: margin.left + 8, y: 12, class: "corner" }),
    label("large and idle", { x: width - margin.right, y: height - margin.bottom - 6, "text-anchor": "end", class: "corner" }),
    ...points.flatMap(name),
    ...dots,
  );
}
