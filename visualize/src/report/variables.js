// The variables of the front end: what each holds in the chosen cycle. Only in reports of designs that have some.

/** What a variable holds in a cycle; nothing where it is not known to hold a value. */
function valueAt({ values }, cycle) {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle][0] <= cycle) from = middle + 1;
    else to = middle;
  }
  return from ? values[from - 1][1] : null;
}

function showVariables({ list, until, left_out: leftOut }) {
  const box = element("p", { class: "detail", id: "variables", role: "status" });
  byId("source").firstElementChild.after(box);
  const about = (variable) => `${variable.type} in ${variable.held_in || "nothing"}${variable.hidden ? `: ${variable.hidden}` : ""}`;
  const named = (variable, text) => element("span", { title: about(variable) }, text);
  const show = () => {
    const { cycle } = selection;
    if (leftOut) return box.replaceChildren(`No values of variables: ${leftOut}`);
    if (cycle === null) return box.replaceChildren(`${counted(list.length, "variable")}: a cycle chosen on the timeline shows their values`);
    if (until !== undefined && cycle >= until) return box.replaceChildren(`Values of variables are recorded before cycle ${count(until)}`);
    const values = list.map((variable) => [variable, valueAt(variable, cycle)]);
    const live = values.filter(([, value]) => value !== null);
    const known = new Set(live.map(([{ name }]) => name));
    const others = values.filter(([{ name }, value]) => value === null && !known.has(name));
    const parts = live.map(([variable, value]) => named(variable, `${variable.name} = ${value}`));
    if (others.length) parts.push(element("small", {}, "not live: ", ...others.flatMap(([variable], at) => [at ? ", " : "", named(variable, variable.name)])));
    box.replaceChildren(`Cycle ${count(cycle)}: `, ...parts.flatMap((part, at) => [at ? " · " : "", part]));
  };
  onSelection(show);
  show();
}

showVariables(data.variables);
