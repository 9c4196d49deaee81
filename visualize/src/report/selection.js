// What is chosen. It is kept in the address, so that a link shows the same:
// #L12 a line, #F1L12 one of another file, #frame=3, #control=4, #site=0ad3c7f0e2d962f5, and &cycle=5 for a cycle beside.

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
    table.places.forEach((places, row) => {
      if (places.some((other) => placeKey(other) === key) && isActive(table, row)) rows[at].add(row);
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
  const places = data.tables[table].places[row].map(placeKey);
  const frames = framesOf((frame) => frame.rows.some(([t, r]) => t === table && r === row));
  const chosen = noRows();
  chosen[table].add(row);
  // A statement has rows in two tables.
  for (const frame of frames) for (const [t, r] of data.frames[frame].rows) if (rowName(t, r) === rowName(table, row)) chosen[t].add(r);
  return { title: rowName(table, row), lines: new Set(places), frames, rows: chosen };
}

/** What a row of a table is about, with its component. */
function rowName(table, row) {
  const { name, columns, rows } = data.tables[table];
  const value = (title) => rows[row][columns.findIndex(([other]) => other === title)];
  if (name === "lines") return value("line") === null || value("line") === "" ? value("file") : `${value("file")}:${value("line")}`;
  const key = value(keyColumn(name));
  return ["groups", "control", "loops"].includes(name) ? `${value("component")}.${key}` : key;
}

/** Reads one part of an address; nothing if it names nothing. */
function parsePart(part) {
  const line = /^(?:F(\d+))?L(\d+)$/.exec(part);
  if (line) {
    const place = [Number(line[1] ?? 0), Number(line[2])];
    return data.files[place[0]]?.lines[place[1] - 1] === undefined ? {} : lineSelection(place);
  }
  const [, site] = /^site=(\w+)$/.exec(part) ?? [];
  const holder = data.tables.findIndex(({ sites }) => sites?.includes(site));
  if (holder >= 0) return rowSelection(holder, data.tables[holder].sites.indexOf(site));
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
const linePart = ([file, line]) => (file ? `F${file}L${line}` : `L${line}`);
const choosePlace = (place) => choose(linePart(place));
const chooseFrame = (frame) => choose(`frame=${frame}`);
const chooseRow = (table, row) => choose(`${data.tables[table].name}=${row}`);
const chooseNothing = () => setAddress();

/** Opens a view, and puts the focus there. */
function visit(id) {
  showView(id);
  byId(id).focus({ preventScroll: true });
}

/** Brings the views into sight where the window is too small for all of the page, unless who chose is in one of them. */
function bringIntoSight() {
  const panes = byId("panes");
  if (panes.contains(document.activeElement) || document.querySelector(".enlarged")) return;
  const { top, bottom } = byId("source").getBoundingClientRect();
  if (top > innerHeight - 100 || bottom < 100) panes.scrollIntoView({ block: "start" });
}

onSelection(() => {
  const bar = byId("selection");
  bar.hidden = !selection.title;
  if (bar.hidden) return;
  bringIntoSight();
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
