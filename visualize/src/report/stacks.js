// What the flame graph shows: the call trees of all cycles laid on top of each other, as the Calyx program has them or as lines of the front
// end's files.

/** The nodes below each node, as the timeline orders them: by when they first ran. */
const childrenOf = childLists(data.nodes.parents);

function childLists(parents) {
  const children = parents.map(() => []);
  parents.forEach((parent, node) => {
    if (parent !== node) children[parent].push(node);
  });
  return children;
}

const frameOf = (node) => data.frames[data.nodes.frames[node]];

/** What the colour of a node means; a primitive has that of what it works for, paler. */
function paintOf(node) {
  const { paint } = frameOf(node);
  if (paint) return paint;
  return paintOf(data.nodes.parents[node]) === "conditions" ? "conditions-primitive" : "computation-primitive";
}

/** The nodes from the root to `node`. */
function pathOf(node, parents = data.nodes.parents) {
  const parent = parents[node];
  return parent === node ? [node] : [...pathOf(parent, parents), node];
}

/** Behind a name: the lines of the front end, ` {queue.py:12}`. */
function placesBehind(frame) {
  const labels = (frame.lines ?? []).map((line) => data.lines[line]).filter(({ place }) => place).map(({ label }) => label);
  const distinct = labels.filter((label, nth) => label !== labels[nth - 1]);
  return distinct.length ? ` {${distinct.join(", ")}}` : "";
}

/** A frame's name with the first words of its statement. */
const nameInWords = (frame) => (frame.words ? `${fullName(frame)} ${frame.words}` : fullName(frame));

/** The same with the lines of the front end, where both programs are shown. */
const shownName = (frame) => (language() === "both" ? nameInWords(frame) + placesBehind(frame) : nameInWords(frame));

/** A name as it stands on its box: of overhead only its kind, since stripes tell the rest. */
const onBox = (name) => /^\(overhead: (.*)\)$/.exec(name)?.[1] ?? name;

/** How often a frame became active, as the tables have it. */
function timesOf({ kind, rows }) {
  const wanted = { cell: "cells", group: "groups", control: "control" }[kind];
  const [at, row] = rows.find(([at]) => data.tables[at].name === wanted) ?? [];
  if (at === undefined) return "";
  const { columns, rows: values } = data.tables[at];
  const column = columns.findIndex(([title]) => title.startsWith("times "));
  return `${columns[column][0].replace("times ", "")} ${counted(values[row][column], "time")}`;
}

/** The line of the source that a frame stands for. */
function sourceText([place]) {
  return place ? (data.files[place[0]].lines[place[1] - 1] ?? "").trim() : "";
}

/** The stacks of the Calyx program. */
const calyxStacks = {
  parents: data.nodes.parents,
  children: childrenOf,
  scaled: data.nodes.scaled,
  leaves: data.nodes.leaves,
  active: (node) => data.nodes.active[node],
  name: (node) => shownName(frameOf(node)),
  kind: (node) => frameOf(node).kind,
  paint: paintOf,
  places: (node) => frameOf(node).places,
  isLink: (node) => Boolean(frameOf(node).link),
  isChosen: (node) => selection.frames.has(data.nodes.frames[node]),
  choose: (node) => chooseFrame(data.nodes.frames[node]),
  told(node) {
    const frame = frameOf(node);
    const place = frame.places.length ? `, ${placeName(frame.places[0])}` : "";
    return [`${fullName(frame)} (${frame.kind}${place})`, timesOf(frame)];
  },
  searched(node) {
    const frame = frameOf(node);
    const keyword = frame.label.split("@")[0];
    return frame.words ? [shownName(frame), `${keyword} ${frame.words}`] : [shownName(frame)];
  },
};

/** The stacks of the front end's lines. Frames of one line, directly inside one another, are one. */
function lineStacks() {
  const [parents, frames, ids, ends] = [[], [], new Map(), []];
  const add = (above, frame) => {
    const key = `${above} ${frame.name}`;
    if (!ids.has(key)) {
      ids.set(key, frames.length);
      parents.push(above ?? frames.length);
      frames.push(frame);
    }
    return ids.get(key);
  };
  const ofLine = (above, { place, label, what }, paint) => {
    const line = place ? placeKey(place) : label;
    if (above !== null && frames[above].line === line) return above;
    const text = place ? (data.files[place[0]].lines[place[1] - 1] ?? "").trim() : "";
    return add(above, { name: text ? `${label} ${what}: ${text}` : `${label} ${what}`, line, kind: "line", paint, places: place ? [place] : [] });
  };
  // Above the lines of each node, for what hangs on a group that was not active: its overhead is that of the enable.
  const before = [];
  data.nodes.frames.forEach((_, node) => {
    const frame = frameOf(node);
    const parent = data.nodes.parents[node];
    let end = parent === node ? null : ends[parent];
    before.push(end);
    if (frame.kind === "overhead") {
      const above = frameOf(parent);
      if (above.kind === "group") {
        const enable = (above.lines ?? []).map((line) => data.lines[line]).find(({ what }) => what.startsWith("enable "));
        end = ofLine(before[parent], enable ?? { place: null, label: "(no line)", what: `enable ${above.label}` }, "computation");
      }
      end = add(end, { name: frame.label, line: null, kind: "overhead", paint: frame.paint, places: frame.places });
    } else for (const line of frame.lines ?? []) end = ofLine(end, data.lines[line], paintOf(node));
    ends.push(end);
  });
  const weights = (values) => {
    const sums = parents.map(() => 0);
    values.forEach((value, node) => {
      if (ends[node] !== null) sums[ends[node]] += value;
    });
    return sums;
  };
  const active = activeIn(ends, parents);
  const isChosen = (node) => frames[node].places.some((place) => selection.lines.has(placeKey(place)));
  return {
    parents,
    children: childLists(parents),
    scaled: weights(data.nodes.scaled),
    leaves: weights(data.nodes.leaves),
    active: (node) => active?.[node] ?? null,
    name: (node) => frames[node].name,
    kind: (node) => frames[node].kind,
    paint: (node) => frames[node].paint,
    places: (node) => frames[node].places,
    isLink: () => false,
    isChosen,
    choose: (node) => frames[node].places.length && choosePlace(frames[node].places[0]),
    told: (node) => [frames[node].name, ""],
    searched: (node) => [frames[node].name],
  };
}

/** In how many cycles each node is active that nodes of call trees end at, if the page has the order of the run. */
function activeIn(ends, parents) {
  if (!timeline.trees) return null;
  const cycles = timeline.trees.map(() => 0);
  const { starts, trees, length } = timeline.runs;
  for (let at = 0; at < length; at++) cycles[trees[at]] += starts[at + 1] - starts[at];
  const active = parents.map(() => 0);
  timeline.trees.forEach((tree, at) => {
    const here = new Set();
    for (const node of tree.active) {
      for (let end = ends[node]; end !== null && !here.has(end); end = parents[end] === end ? null : parents[end]) here.add(end);
    }
    for (const node of here) active[node] += cycles[at];
  });
  return active;
}
