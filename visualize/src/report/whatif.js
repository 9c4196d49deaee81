// What `petal whatif` found: how short the run can get, and what would make it shorter.

function showWhatIf({ answers, bounds, parts, cycles, curves }) {
  const row = ({ name, cycles: shown, told, paint, most = cycles }) => {
    const bar = element("i", { class: `paint-${paint}` });
    bar.style.width = `${Math.max(0, (shown * 100) / most)}%`;
    const share = element("span", { class: "share" }, element("small", {}, count(shown)), percent(shown, cycles));
    const meter = element("span", { class: "meter", "aria-hidden": "true" }, bar);
    return element("li", {}, element("div", { class: "rank" }, element("span", { class: "name" }, name), share, meter, ...(told ? [element("span", { class: "why" }, told)] : [])));
  };
  const advised = data.advice ? [{ name: "with all advice", cycles: data.advice.with_all, paint: "conditions" }] : [];
  const least = bounds.map((bound) => ({ name: bound["if only this took time"], cycles: bound.cycles, paint: "control" }));
  const known = answers.filter((answer) => (answer["at most"] ?? answer.saves) > 0);
  const saving = known.map((answer) => {
    const { "what if": name, counted, saves, "at least": least, "at most": most, how, advice } = answer;
    const between = saves === null ? [`at least ${count(least)}, at most ${count(most)}`] : [];
    const told = [how, ...between, ...(counted && counted !== saves ? [`${count(counted)} counted`] : []), ...(advice ? [`advice: ${advice}`] : [])];
    return { name, cycles: saves ?? most, told: told.join("; "), paint: "fsm-update" };
  });
  const curveRows = ({ name, points }) => {
    // A slower one takes longer than the run.
    const most = Math.max(cycles, ...points.map(({ saves }) => cycles - saves));
    return points.map(({ cycles: latency, saves }) =>
      saves === null
        ? element("li", {}, `${name}=${latency}: other results`)
        : row({ name: `${name}=${latency}`, cycles: cycles - saves, paint: "fsm-update", most }),
    );
  };
  const partRow = ({ "loop or cell": name, cycles: shown, computation, "data order": order, "handed on": chain, "uses most": most, uses }) => {
    const kinds = [`computation ${count(computation)}`, `in the order of its data ${count(order)}`, `values handed on ${count(chain)}`];
    const told = [...kinds, ...(most ? [`uses ${most} ${count(uses)} times`] : [])];
    return row({ name, cycles: shown, told: told.join("; "), paint: "fsm-update" });
  };
  byId("whatif").append(
    element("h2", {}, "How short it can get"),
    element("ol", { class: "ranked" }, ...[{ name: "the run as it is", cycles, paint: "fsm-update" }, ...advised, ...least].map(row)),
    ...(parts?.length
      ? [element("h2", {}, "How short its loops and cells can get"), element("ol", { class: "ranked" }, ...parts.slice(0, 10).map(partRow))]
      : []),
    ...(answers.length
      ? [
          element("h2", {}, "What it would save"),
          element("p", { class: "hint" }, "each by itself: the run put together anew, or simulated"),
          element("ol", { class: "ranked" }, ...(saving.length ? saving.map(row) : [element("li", {}, "nothing")])),
        ]
      : []),
    ...(curves ?? []).flatMap((curve) => [
      element("h2", {}, `The run by the latency of ${curve.name}`),
      element("ol", { class: "ranked" }, ...curveRows(curve)),
    ]),
  );
}
