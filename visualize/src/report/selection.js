// What is chosen. It is kept in the address, so that a link shows the same:
// #L12 a line, #F1L12 one of another file, #frame=3, #control=4, and &cycle=5 for a cycle beside.

const selection = { title: "", lines: new Set(), frames: new Set(), rows: [], cycle: null };
const followers = [];

/** Calls `follower` whenever another thing is chosen. */
const onSelection = (follower) => followers.push(follower);

const framesOf = (matches) =>
  new Set(data.frames.flatMap((frame, at) => (matches(frame) ? [at] : [])));

const noRows = () => data.tables.map(() => new Set());

/** What belongs to a line: its frames, their rows, and its own. */
function lineSelection(place) {
  const key = placeKey(place);
  const frames = framesOf((frame) => frame.places.some((other) => placeKey(other) === key));
  const rows = noRows();
  for (const frame of frames) for (const [table, row] of data.frames[frame].rows) rows[table].add(row);
  data.tables.forEach((table, at) =>
    table.places.forEach((other, row) => {
      if (other && placeKey(other) === key && isActive(table, row)) rows[at].add(row);
    }),
  );
  return { title: placeName(place), lines: new Set([key]), frames, rows };
}

function frameSelection(at) {
  const { places, rows } = data.frames[at];
  const chosen = noRows();
  for (const [table, row] of rows) chosen[table].add(row);
  return { title: fullName(data.frames[at]), lines: new Set(places.map(placeKey)), frames: new Set([at]), rows: chosen };
}

function rowSelection(table, row) {
  const { name, columns, rows, places } = data.tables[table];
  const frames = framesOf((frame) => frame.rows.some(([t, r]) => t === table && r === row));
  const chosen = noRows();
  chosen[table].add(row);
  return {
    title: rows[row][columns.findIndex(([title]) => title === keyColumn(name))],
    lines: new Set(places[row] ? [placeKey(places[row])] : []),
    frames,
    rows: chosen,
  };
}

/** Reads one part of an address; nothing if it names nothing. */
function parsePart(part) {
  const line = /^(?:F(\d+))?L(\d+)$/.exec(part);
  if (line) {
    const place = [Number(line[1] ?? 0), Number(line[2])];
    return data.files[place[0]]?.lines[place[1] - 1] === undefined ? {} : lineSelection(place);
  }
  const [, key, digits] = /^(\w+)=(\d+)$/.exec(part) ?? [];
  const number = Number(digits);
  if (key === "cycle" && number < data.cycles) return { cycle: number };
  if (key === "frame" && data.frames[number]) return frameSelection(number);
  const table = data.tables.findIndex(({ name }) => name === key);
  return data.tables[table]?.rows[number] ? rowSelection(table, number) : {};
}

const nothing = () => ({ title: "", lines: new Set(), frames: new Set(), rows: noRows(), cycle: null });

let shown = null;

function readAddress() {
  if (shown === location.hash) return;
  shown = location.hash;
  const parts = location.hash.slice(1).split("&");
  Object.assign(selection, nothing(), ...parts.map(parsePart));
  for (const follower of followers) follower();
}

const addressPart = (cycle) =>
  location.hash.slice(1).split("&").find((part) => part && part.startsWith("cycle=") === cycle);

function setAddress(...parts) {
  const hash = parts.filter(Boolean).join("&");
  if (hash) location.hash = hash;
  else history.replaceState(null, "", location.href.split("#")[0]);
  // Who chooses the same again wants to see it again.
  shown = null;
  // The browser tells of it too late for a key that is held down.
  readAddress();
}

const choose = (part) => setAddress(part, addressPart(true));
const chooseCycle = (cycle) => setAddress(addressPart(false), `cycle=${cycle}`);
const choosePlace = ([file, line]) => choose(file ? `F${file}L${line}` : `L${line}`);
const chooseFrame = (frame) => choose(`frame=${frame}`);
const chooseRow = (table, row) => choose(`${data.tables[table].name}=${row}`);
const chooseNothing = () => setAddress();

/** Brings source, flame graph and timeline into sight, unless who chose is in one of them. */
function showViews() {
  const views = ["source", "flame", "timeline"].map(byId);
  if (views.some((view) => view.contains(document.activeElement))) return;
  const inSight = (view) => {
    const { top, bottom } = view.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0) > 0.8 * (bottom - top);
  };
  if (!views.every(inSight)) byId("workbench").scrollIntoView({ block: "start" });
}

/** Brings a part of the page into sight and puts the focus there. */
function visit(id) {
  byId(id).scrollIntoView({ block: "start" });
  byId(id).focus({ preventScroll: true });
}

onSelection(() => {
  const bar = byId("selection");
  bar.hidden = !selection.title;
  if (bar.hidden) return;
  showViews();
  const rows = selection.rows.reduce((sum, set) => sum + set.size, 0);
  const jump = (id, text) => element("button", { type: "button", onclick: () => visit(id) }, text);
  bar.replaceChildren(
    element("strong", {}, selection.title),
    ...firstCycles(),
    jump("source", counted(selection.lines.size, "line")),
    jump("flame", counted(selection.frames.size, "frame")),
    jump("timeline", "timeline"),
    jump("tables", counted(rows, "row")),
    element("button", { type: "button", onclick: chooseNothing }, "Clear"),
  );
});
