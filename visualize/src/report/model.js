// What the page knows of the run, and how it writes names and numbers.

const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A text in which what stands between backticks is code. */
const prose = (text) => text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));

/** A frame's label; for a `ref` cell with the cell that it stands for. */
const fullName = ({ label, actual }) => (actual ? `${label} = ${actual}` : label);

/** The column of a table that names its rows. */
const keyColumn = (name) => ({ cells: "cell", groups: "group", control: "statement", hotspots: "statement", loops: "statement", lines: "line" })[name];

/** Whether a row of a table is of something that was active, or is charged for something. */
function isActive({ columns, rows }, row) {
  const tells = ([title]) => title.startsWith("times ") || ["cycles", "total cycles", "overhead", "cost", "own"].includes(title);
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

/** Marks an element as chosen, or not. */
function mark(marked, chosen) {
  if (chosen) marked.setAttribute("aria-current", "true");
  else marked.removeAttribute("aria-current");
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
