// What `petal advise` found.

/** All advice, what is proved first: each opens to its reason and its patch. */
function showAdvice({ advice, cycles, with_all, with_proved, file, arguments: options, data: tried, front }) {
  const at = data.files.findIndex(({ name, front }) => !front && (name === file || name.endsWith(`/${file}`)));
  const place = ({ place, line, front_end }) => {
    if (!place) return [];
    const known = line && data.files[at]?.lines[line - 1] !== undefined;
    const pick = known ? element("button", { type: "button", class: "link", onclick: () => choosePlace([at, line]) }, place) : place;
    return [element("p", {}, "at ", pick, front_end ? ` ${front_end}` : "")];
  };
  const rows = advice.map((item) => {
    const { number, what, why, on_top, percent: share, cost, diff, how } = item;
    const summary = element(
      "summary",
      {},
      element("span", { class: "number" }, `${on_top < 0 ? "+" : "−"}${count(Math.abs(on_top))}`),
      element("span", { class: "number" }, `−${share.toFixed(1)} %`),
      element("span", {}, item.class),
      element("span", {}, ...prose(what), ...(item.place ? [element("small", {}, ` ${item.place}`)] : [])),
    );
    const more = element("details", { "data-advice": number }, summary, ...place(item), element("p", {}, ...prose(why)), element("p", {}, `hardware: ${cost}`));
    if (how) more.append(element("p", {}, ...prose(how)));
    if (diff) more.append(element("div", { class: "patch" }, patch(diff), copyButton(() => diff)));
    return more;
  });
  const compile = options.length ? [" and ", element("code", {}, options.join(" "))] : [];
  const proved = with_proved === with_all ? "" : `, ${count(with_proved)} with what is proved`;
  const saved = [`${count(cycles)} → ${count(with_all)} cycles with all of it`, ...compile, `${proved}; tried on ${tried.map(({ name }) => name).join(", ")}`];
  byId("advice").append(element("h2", {}, "Advice"), element("p", {}, ...(rows.length ? saved : ["nothing found that saves cycles"])), ...rows);
  if (front) byId("advice").append(showFront(front));
}

/** A patch with its lines in colours. */
function patch(diff) {
  const kinds = { "+": "plus", "-": "minus", "@": "at" };
  const lines = diff.replace(/\n$/, "").split("\n");
  return element("pre", { class: "diff" }, ...lines.map((line) => element("span", { class: /^(\+\+\+|---)/.test(line) ? undefined : kinds[line[0]] }, line || " ")));
}

function openAdvice(number) {
  showView("advice");
  const found = document.querySelector(`[data-advice="${number}"]`);
  found.open = true;
  reveal(byId("advice"), found);
  found.querySelector("summary").focus();
}

/** Combinations of advice that none beats: cycles from left to right, LUTs upwards if all are synthesised, else bits of registers, and cells as size. */
function showFront(points) {
  const [width, height, margin] = [420, 180, 28];
  const scale = (values, size) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value) => margin + ((value - least) / Math.max(most - least, 1)) * (size - 2 * margin);
  };
  const x = scale(points.map(({ cycles }) => cycles), width);
  const isSynthesized = points.every(({ synthesized }) => synthesized);
  const area = ({ register_bits: bits, synthesized: of }) => (isSynthesized ? of.luts : bits);
  const unit = isSynthesized ? "LUT" : "bits of registers";
  const y = scale(points.map(area), height);
  const size = scale(points.map(({ cells }) => cells), 64);
  const onDevice = ({ cycles, synthesized: of }) => {
    if (!of) return [];
    const time = of.period_ps ? [`${count(Math.round((cycles * of.period_ps) / 1000))} ns`] : [];
    return [[...time, `${count(of.luts)} LUT, ${count(of.ffs)} FF on ${of.device}`].join(", ")];
  };
  const told = (point) => {
    const { cycles, register_bits: bits, cells, changes, patch, arguments: options } = point;
    const figures = [`${count(cycles)} cycles, ${count(bits)} bits of registers, ${count(cells)} cells`, ...onDevice(point)];
    return [...figures, patch ?? "as it is", ...options, ...changes].join("\n");
  };
  const dots = points.map((point) =>
    svg("circle", { cx: x(point.cycles), cy: height - y(area(point)), r: size(point.cells) / 8, class: point.proved ? "proved" : "checked" }, svg("title", {}, told(point))),
  );
  const label = (text, attributes) => svg("text", attributes, text);
  const picture = svg(
    "svg",
    { width, height, role: "img", "aria-label": `Combinations: cycles against ${unit}` },
    ...dots,
    label(`cycles ${count(points[0].cycles)} to ${count(points[points.length - 1].cycles)}`, { x: margin, y: height - 6 }),
    label(`${unit} ↑`, { x: 0, y: 12 }),
  );
  return element("section", { id: "front" }, element("h3", {}, "Combinations that none beats"), picture);
}
