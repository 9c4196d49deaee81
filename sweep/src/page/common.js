// What the pages of sweeps and histories have in common.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");

/** A node, with attributes and children. */
function element(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** A node of a picture. */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node[name] = value;
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A scale from values to pixels, and round values in between to draw lines at. */
function scale([least, most], [from, to], logarithmic) {
  const log = logarithmic;
  // Zero has a place as well.
  const shift = least > 0 ? 0 : 1;
  const of = log ? (value) => Math.log10(value + shift) : (value) => value;
  let [low, high] = [of(least), of(most)];
  const room = (high - low) * 0.05 || (log ? 0.1 : Math.abs(high) * 0.05) || 1;
  const isFromZero = !log && low >= 0 && low < room;
  [low, high] = [isFromZero ? 0 : low - room, high + room];
  const at = (value) => from + ((of(value) - low) / (high - low)) * (to - from);
  const ticks = [];
  if (log && high - low > 1) {
    const steps = high - low > 3 ? [1] : [1, 2, 5];
    if (shift) ticks.push(0);
    for (let power = Math.max(Math.floor(low), shift ? 0 : -Infinity); power <= high; power += 1)
      for (const step of steps) ticks.push(step * 10 ** power);
  } else {
    const [first, last] = log ? [10 ** low - shift, 10 ** high - shift] : [low, high];
    const rough = (last - first) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max([1, 2, 5, 10].find((factor) => factor * power >= rough) * power, 1);
    for (let tick = Math.ceil(first / step) * step; tick <= last; tick += step) ticks.push(tick);
  }
  const shown = ticks.filter((tick) => tick >= 0 && of(tick) >= low && of(tick) <= high);
  return { at, ticks: shown };
}

/** Values on an axis: short ones, since the table has all digits. */
function short(value) {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(4))} k`;
  return count(value);
}

const COLORS = 8;
/** A mark for the category `index`: all differ in colour, the first four in shape as well. */
function mark(index, x, y, size = 5) {
  const shapes = [
    () => svg("circle", { cx: x, cy: y, r: size }),
    () => svg("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8 }),
    () => svg("path", { d: `M${x} ${y - size * 1.2}l${size * 1.15} ${size * 2}h${-size * 2.3}z` }),
    () => svg("path", { d: `M${x} ${y - size * 1.3}l${size * 1.3} ${size * 1.3}l${-size * 1.3} ${size * 1.3}l${-size * 1.3} ${-size * 1.3}z` }),
  ];
  const turn = index + Math.floor(index / COLORS);
  const node = shapes[turn % shapes.length]();
  node.setAttribute("class", `mark c${index % COLORS}`);
  return node;
}

/** A column's head that sorts. */
function heading(name, isNumber, order, choose) {
  const sort = order.column === name ? (order.ascending ? "ascending" : "descending") : undefined;
  const ascending = order.column === name ? !order.ascending : true;
  return element("th", { class: isNumber ? "number" : "", "aria-sort": sort }, element("button", { type: "button", onclick: () => choose(name, ascending) }, name));
}

const theme = byId("theme");
theme.hidden = false;
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => (theme.textContent = isDark() ? "Light" : "Dark");
theme.onclick = () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
};
dark.onchange = showTheme;
showTheme();
