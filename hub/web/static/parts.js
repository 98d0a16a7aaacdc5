// Parts that several views have.
import { el, fill, mark } from "./dom.js";
import { ABOUT, STATES, WORDS, condition } from "./state.js";
import { ago } from "./time.js";

/** counts draws how many servers are in which state: a bar, and words. */
export class Counts {
  #bar = el("div", { class: "bar", "aria-hidden": "true" });
  #words = el("div", { class: "counts" });
  #said = "";
  constructor() { this.e = el("div", null, this.#bar, this.#words); }
  show(c) {
    const said = JSON.stringify(c || {});
    if (said === this.#said) return;
    this.#said = said;
    const some = c ? STATES.filter((s) => c[s]) : [];
    fill(this.#bar, some.map((s) => {
      const part = el("i", { class: s });
      part.style.flexGrow = c[s];
      return part;
    }));
    fill(this.#words, some.length ? some.map((s) => el("span", { class: "count" }, mark(s), c[s].toLocaleString("en") + " ", el("span", null, WORDS[s].toLowerCase()))) : el("span", { class: "faint" }, "no servers"));
  }
}

export const legend = () => el("ul", { class: "legend", "aria-label": "What the shapes mean" }, STATES.map((s) => el("li", { title: ABOUT[s] }, mark(s), WORDS[s])));
export const badge = (state) => el("span", { class: "badge " + state }, mark(state), WORDS[state]);
export const fact = (k, ...v) => [el("dt", null, k), el("dd", null, v)];
export const link = (to, ...c) => el("a", { href: "#/" + to }, c);
export const server = (name) => link("server/" + encodeURIComponent(name), name);
export const rack = (name) => name ? link("rack/" + encodeURIComponent(name), name) : "–";

/** conditions lists conditions with what to do. */
export function conditions(list) {
  if (!list || !list.length) return el("p", { class: "faint" }, "Nothing stands in its way.");
  return el("ul", { class: "conditions" }, list.map((c) => {
    const k = condition(c.code);
    return el("li", { class: k.severity },
      el("div", null, el("strong", null, c.code), " ", k.title !== c.code && k.title, " ", el("span", { class: "faint" }, "for ", ago(c.since).textContent.replace(" ago", ""))),
      c.message && el("div", null, c.message),
      k.hint && el("div", { class: "hint" }, k.hint));
  }));
}

/** table is a plain table. rows are arrays of cells. */
export function table(label, heads, rows, none) {
  if (!rows.length) return el("p", { class: "faint" }, none || "None.");
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, el("table", null,
    el("thead", null, el("tr", null, heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, rows.map((r) => el("tr", null, r.map((c) => el("td", null, c)))))));
}
