// The head of the page, which view is in sight, and what starts everything.

function showSummary() {
  const versions = Object.entries(data.versions).map(([tool, version]) => `${tool} ${version}`);
  const isVerified = data.verified !== "no";
  const origin = isVerified ? `${data.verification.split(":")[0]} · ${versions.join(" · ")}` : versions.join(" · ");
  byId("origin").textContent = origin;
  byId("origin").title = `${data.verification}\n${versions.join(", ")}`;
  const note = (text) => element("p", { class: "note" }, ...prose(text));
  if (data.stopped.length) byId("notes").append(note(`Partial profile: ${data.stopped.join("; ")}`));
  if (!isVerified) byId("notes").append(note(`Warning: ${data.verification}`));
  if (data.warnings.length) {
    const [first, ...more] = data.warnings.map((text) => prose(text));
    const others = more.length ? `Warnings (${count(data.warnings.length)}): ` : "Warning: ";
    byId("notes").append(element("details", { class: "note" }, element("summary", {}, others, ...first), ...data.warnings.map((text) => element("p", {}, ...prose(text)))));
  }
  const useful = classes[0].cycles + classes[1].cycles;
  const figure = (name, text, title) => byId("figures").append(element("div", { title }, element("dt", {}, termOf(name)), element("dd", {}, text)));
  const inCycles = (cycles) => counted(cycles, "cycle");
  figure("cycles", count(data.cycles));
  if (data.time) figure("time", ...data.time);
  figure("useful", percent(useful, data.cycles), inCycles(useful));
  figure("overhead", percent(data.cycles - useful, data.cycles), inCycles(data.cycles - useful));
  for (const { name, cycles, paint } of classes) {
    if (!cycles) continue;
    const box = element("span", { class: `paint-${paint}` });
    const swatch = box.cloneNode();
    box.style.flexGrow = String(cycles);
    byId("share").append(box);
    const item = element("li", { title: inCycles(cycles) }, swatch, termOf(name), " ", element("strong", {}, percent(cycles, data.cycles)), " ", element("small", {}, count(cycles)));
    byId("legend").append(item);
  }
}

/** The views that not every run has something for. */
const OPTIONAL = ["advice", "whatif", "luts", "observations"];

/** The views that take turns, with their names on the tabs: those that the run has something for. */
const VIEWS = [
  ["flame", "Flame graph"],
  ["timeline", "Timeline"],
  ["tables", "Tables"],
  ["advice", "Advice"],
  ["whatif", "What if"],
  ["luts", "Area"],
  ["observations", "Observations"],
].filter(([id]) => ({ advice: data.advice, whatif: data.what_if, luts: data.area, observations: data.observations })[id] ?? !OPTIONAL.includes(id));

const shownView = { id: "flame", choose: () => {} };

/** Opens a view, unless it is in sight. */
function showView(id) {
  const at = VIEWS.findIndex(([other]) => other === id);
  if (at >= 0 && shownView.id !== id) shownView.choose(at);
}

function openView(nth) {
  const [id] = VIEWS[nth];
  shownView.id = id;
  remembered.set("view", id);
  for (const view of document.querySelectorAll("#upper > .view")) view.hidden = view.id !== id;
  // What is not in sight has no size, so it is drawn and scrolled when it is.
  if (id === "flame") showChosenFrames();
  if (id === "timeline" && timeline.order) {
    showWindow(timeline.from, timeline.to);
    if (selection.cycle !== null) revealCycle();
    else if (selection.frames.size) revealRows();
  }
  if (id === "tables") revealRow();
}

function showViewTabs() {
  const names = VIEWS.map(([, name]) => name);
  const ids = VIEWS.map(([id]) => id);
  const kept = ids.indexOf(remembered.values.view);
  shownView.choose = tabs(byId("views"), "Views", names, openView, ids);
  byId("views").append(byId("views").querySelector(".enlarge"));
  if (kept > 0 && !OPTIONAL.includes(ids[kept])) shownView.choose(kept);
}

/** Whose program is shown: the Calyx one, the front end's, or both. */
const language = () => chosenLanguage.value;
const hasFront = data.files.some(({ front }) => front);
const chosenLanguage = { value: hasFront ? (remembered.values.language ?? "both") : "calyx", followers: [] };
const onLanguage = (follower) => chosenLanguage.followers.push(follower);

function showLanguage() {
  if (!hasFront) return;
  const names = data.files.filter(({ front }) => front).map(({ name }) => name);
  const front = names.every((name) => name.endsWith(".py")) ? "Python" : "front end";
  const select = byId("language").querySelector("select");
  select.append(...[["calyx", "Calyx"], ["front", front], ["both", "both"]].map(([value, name]) => element("option", { value }, name)));
  select.value = language();
  byId("language").hidden = false;
  select.addEventListener("change", () => {
    chosenLanguage.value = select.value;
    remembered.set("language", select.value);
    byId("ranks").replaceChildren();
    showRanks();
    for (const follower of chosenLanguage.followers) follower();
  });
}

function showKeys() {
  const keys = byId("keys");
  byId("help").hidden = false;
  byId("help").addEventListener("click", () => keys.showModal());
}

function globalKey(event) {
  if (byId("keys").open) return;
  const isTyping = event.target.closest("input, select");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "?" && !isTyping) byId("keys").showModal();
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    showView("flame");
    byId("search").focus();
  } else if (isPlain && !isTyping && event.key >= "1" && event.key <= String(VIEWS.length)) {
    visit(VIEWS[Number(event.key) - 1][0]);
  } else if (enlargeKey(event)) {
    event.preventDefault();
  } else if (data.cycles && event.target === document.body && "wasdf0".includes(event.key)) {
    timelineKey(event);
  } else if (event.key === "Escape" && !reduce()) {
    byId("search").value = "";
    search();
    zoomTo(0);
    if (timeline.area) chooseArea();
    chooseNothing();
  }
}

// All is there before anything can be clicked.
await loadTimeline();
byId("work").hidden = false;
showPanes();
showLanguage();
showSummary();
showRanks();
showSource();
showFlame();
showTables();
showTimeline();
if (data.advice) showAdvice(data.advice);
if (data.what_if) showWhatIf(data.what_if);
if (data.area) showArea(data.area);
if (data.observations) showObservations(data.observations);
showViewTabs();
showKeys();
showTheme(() => timeline.order && showWindow(timeline.from, timeline.to));
document.addEventListener("keydown", globalKey);
// The style has what stays in sight in a box that is scrolled sideways.
document.addEventListener("scroll", ({ target }) => target.classList?.toggle("moved", target.scrollLeft > 0), true);
addEventListener("hashchange", readAddress);
openHottest();
readAddress();
followEditor();
