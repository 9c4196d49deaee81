// What all pages have: their data, numbers, elements, and the theme.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

const integer = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const count = (number) => (Number.isInteger(number) ? integer : decimal).format(number);
const percent = (part, whole) => (whole ? `${((part * 100) / whole).toFixed(1)} %` : "");

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** An element. Texts become text nodes, whatever is in them. */
const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** A node of a picture. */
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** What the page remembers from visit to visit, unless the browser keeps nothing. */
const remembered = {
  key: `petal.${document.body.dataset.page}`,
  values: {},
  load() {
    try {
      Object.assign(this.values, JSON.parse(localStorage.getItem(this.key)));
    } catch {
      // Then it begins anew.
    }
  },
  set(name, value) {
    this.values[name] = value;
    try {
      localStorage.setItem(this.key, JSON.stringify(this.values));
    } catch {
      // Nothing is kept.
    }
  },
};
remembered.load();

/** The button that changes from light to dark. `changed` is called whenever colours are others. */
function showTheme(changed) {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement.dataset;
  const isDark = () => (root.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const change = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    changed();
  };
  if (remembered.values.theme) root.theme = remembered.values.theme;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.theme = isDark() ? "light" : "dark";
    remembered.set("theme", root.theme);
    change();
  });
  dark.addEventListener("change", change);
  change();
}
