// What the page knows of the run, and how it writes numbers and elements.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

const integer = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const count = (number) => (Number.isInteger(number) ? integer : decimal).format(number);
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const percent = (part, whole) => (whole ? `${((part * 100) / whole).toFixed(1)} %` : "");

/** An element. Texts become text nodes, whatever is in them. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A frame's label; for a `ref` cell with the cell that it stands for. */
const fullName = ({ label, actual }) => (actual ? `${label} = ${actual}` : label);

/** The column of a table that names its rows. */
const keyColumn = (name) => ({ cells: "cell", groups: "group", control: "statement" })[name];

/** The column that the page adds to tables. */
const SHARE = "% of run";

/** Whether a row of a table is of something that was active, or is charged for something. */
function isActive({ columns, rows }, row) {
  const tells = ([title]) => title.startsWith("times ") || ["cycles", "total cycles", "overhead"].includes(title);
  return columns.some((column, at) => tells(column) && rows[row][at] > 0);
}

/** What the hover text and the accessible description of a word are, if it is a term. */
const explained = (word) => ({ title: data.terms[word] });

/** A word with that text, which keys come to as well. */
const termOf = (word, shown = word) =>
  element("abbr", { ...explained(word), tabindex: data.terms[word] && "0" }, shown);

const placeKey = ([file, line]) => `${file}:${line}`;

/** A place as people read it. */
function placeName([file, line]) {
  return data.files.length > 1 ? `${data.files[file].name}, line ${line}` : `line ${line}`;
}

/** Puts tabs at the end of `host`. `show` gets the number of the one that is chosen; returns what chooses one. */
function tabs(host, label, names, show) {
  const list = names.map((name, nth) =>
    element("button", { type: "button", role: "tab", tabindex: "-1", onclick: () => choose(nth) }, name),
  );
  const choose = (chosen) => {
    list.forEach((tab, nth) => {
      tab.setAttribute("aria-selected", String(nth === chosen));
      tab.setAttribute("tabindex", nth === chosen ? "0" : "-1");
    });
    show(chosen);
  };
  const box = element("div", { role: "tablist", "aria-label": label }, ...list);
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = list.indexOf(document.activeElement) + step;
    if (!list[next]) return;
    event.preventDefault();
    choose(next);
    list[next].focus();
  });
  host.append(box);
  return choose;
}

/** Marks an element as chosen, or not. */
function mark(marked, chosen) {
  if (chosen) marked.setAttribute("aria-current", "true");
  else marked.removeAttribute("aria-current");
}

/** Moves the tab stop of a list with one tab stop to `next`, and the focus with it. */
function moveFocus(list, next) {
  if (!next) return;
  list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** Scrolls a box, and nothing around it, until `inner` is in sight. */
function reveal(box, inner) {
  const outer = box.getBoundingClientRect();
  const rect = inner.getBoundingClientRect();
  const margin = Math.min(60, outer.height / 4);
  const inSight = rect.top >= outer.top + margin && rect.bottom <= outer.bottom - margin;
  // With more of what follows than of what is before.
  if (!inSight) box.scrollTop += rect.top - outer.top - outer.height / 3;
}

/** The bytes of a packed part of the page. */
async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers: seven bits in each byte, lowest first; the eighth tells that more follow. */
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get more() {
    return this.at < this.bytes.length;
  }

  next() {
    let number = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.bytes[this.at++];
      number += (byte & 0x7f) * unit;
      if (byte < 0x80) return number;
    }
  }
}

/** The different call trees: their class, and their nodes with the activity of those that are cells. */
async function readTrees() {
  const numbers = new Numbers(await unpack("trees"));
  const trees = [];
  while (numbers.more) {
    const tree = { class: numbers.next(), nodes: [], activities: [] };
    for (let left = numbers.next(); left > 0; left--) {
      const node = numbers.next();
      const cell = data.frames[data.nodes.frames[node]].kind === "cell";
      tree.nodes.push(node);
      tree.activities.push(cell ? numbers.next() : null);
    }
    // With the leaf of overhead, if there is one, and what it hangs on; the root is none.
    const overhead = numbers.next();
    tree.active = overhead ? [...new Set([...tree.nodes, ...pathOf(overhead)])] : tree.nodes;
    trees.push(tree);
  }
  return trees;
}

/** Which tree is active from which cycle on; the last start is the end of the run. */
async function readRuns() {
  const bytes = await unpack("runs");
  const numbers = new Numbers(bytes);
  const starts = new Float64Array(bytes.length + 1);
  const trees = new Uint32Array(bytes.length);
  let length = 0;
  while (numbers.more) {
    const number = numbers.next();
    trees[length] = Math.floor(number / 2);
    starts[length + 1] = starts[length] + (number % 2 ? numbers.next() : 1);
    length++;
  }
  return { length, starts: starts.subarray(0, length + 1), trees: trees.subarray(0, length) };
}

/** Names and colours of the classes of cycles. */
const classes = data.classes.map(([name, cycles], at) => ({
  name,
  cycles,
  overhead: at > 1,
  paint: data.paints[at].key,
}));

/** The class of a class or activity code of a tree. */
const kindOf = (code) => {
  if (code < 2) return code;
  return data.classes.findIndex(([name]) => name === data.reasons[code - 2].kind);
};

/** What a class code of a tree means, `overhead: FSM update of if@L12`, or the activity code of a cell that the run loses nothing by: `control: …`. */
function meaning(code, lost = true) {
  if (code < 2) return classes[code].name;
  const { kind, statement } = data.reasons[code - 2];
  const what = `${lost ? "overhead" : "control"}: ${kind}`;
  return statement === null ? what : `${what} of ${statement}`;
}
