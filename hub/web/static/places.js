// The fleet as racks, and a rack as it stands.
import { el, fill, mark, text } from "./dom.js";
import { agentOf, agents, freezes, racks, servers } from "./fleet.js";
import { freeze, thaw } from "./acts.js";
import { get, one } from "./hub.js";
import { Counts, conditions, fact, legend } from "./parts.js";
import { WORDS, condition, warns } from "./state.js";
import { ago } from "./time.js";

/** sayAgent is what is known of a rack's agent, in a word or two. */
function sayAgent(rack) {
  const a = agentOf(rack);
  if (!a) return agents.synced ? ["no agent", "unknown"] : ["", ""];
  const cs = (a.o.status || {}).conditions || [];
  if (cs.some((c) => c.code === "Dark")) return ["dark", "error"];
  const worst = cs.find((c) => condition(c.code).severity === "error") || cs[0];
  return worst ? [worst.code, condition(worst.code).severity === "error" ? "error" : "warn"] : ["", ""];
}

export const frozen = (rack) => [...freezes.all.values()].map((f) => f.o).find((f) => f.spec.rackRef && f.spec.rackRef.name === rack && !(f.status || {}).over);

export function fleetView(main, { query }, signal) {
  const total = new Counts(), cards = new Map();
  const found = el("span", { class: "faint", role: "status" });
  const only = el("input", { type: "checkbox", checked: query.has("trouble") });
  const find = el("input", { type: "search", placeholder: "Rack", "aria-label": "Search racks", autocomplete: "off" });
  const grid = el("div", { class: "racks", role: "list", "aria-label": "Racks" });
  fill(main, el("div", { class: "bar-top" }, el("h1", null, "Fleet"), find, el("label", { class: "tick" }, only, "Only racks with something wrong"), found),
    total.e, legend(), grid);
  const card = (row) => {
    const c = { name: el("a", { href: "#/rack/" + encodeURIComponent(row.name) }, row.name), note: el("span"), about: el("div", { class: "about faint" }), counts: new Counts() };
    c.e = el("div", { class: "rackcard", role: "listitem" }, el("div", { class: "row" }, c.name, c.note), c.about, c.counts.e);
    return c;
  };
  const refresh = () => {
    total.show(servers.total);
    const q = find.value.trim().toLowerCase();
    const shown = [];
    for (const row of racks.list()) {
      const n = servers.counts.get(row.name), [word, tone] = sayAgent(row.name);
      if (q && !row.name.includes(q)) continue;
      if (only.checked && !(n && (n.error || n.unknown)) && !tone) continue;
      let c = cards.get(row.name);
      if (!c) cards.set(row.name, c = card(row));
      const ice = frozen(row.name);
      text(c.note, [word, ice && "frozen"].filter(Boolean).join(", "));
      c.note.className = "note " + (tone || (ice ? "ice" : ""));
      text(c.about, row.o.spec.description || "");
      c.counts.show(n);
      shown.push(c.e);
    }
    if (grid.children.length !== shown.length || shown.some((e, i) => grid.children[i] !== e)) grid.replaceChildren(...shown);
    text(found, racks.all.size.toLocaleString("en") + (racks.all.size === 1 ? " rack, " : " racks, ") + servers.all.size.toLocaleString("en") + " servers" + (servers.synced ? "" : ", counting…"));
    if (!shown.length && racks.synced) fill(grid, el("p", { class: "faint" }, racks.all.size ? "No rack is like that." : "There is no rack yet: rackctl apply -f makes one, docs/guide/first-rack.md says how."));
  };
  for (const t of [servers, racks, agents, freezes]) t.listen(refresh, signal);
  find.addEventListener("input", refresh);
  only.addEventListener("change", refresh);
  refresh();
}

const FRAME = 42; // units of a drawn frame

export function rackView(main, { name }, signal) {
  const head = el("div"), counts = new Counts(), frames = el("div", { class: "frames" }), units = new Map();
  const acts = el("div", { class: "row acts" });
  fill(main, el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "#/" }, "Fleet"), " / ", name),
    el("div", { class: "bar-top" }, el("h1", null, "Rack " + name), acts), head, counts.e, legend(), frames);
  let seen = "";
  const unit = (row) => {
    const u = { mark: el("span"), name: el("span", { class: "n" }, row.name), word: el("span", { class: "w" }), state: "" };
    u.e = el("a", { class: "unit", href: "#/server/" + encodeURIComponent(row.name) }, u.mark, u.name, u.word);
    return u;
  };
  const refresh = () => {
    const own = servers.list().filter((r) => r.rack === name);
    for (const row of own) {
      let u = units.get(row.name);
      if (!u) units.set(row.name, u = unit(row));
      const st = row.o.status || {}, at = st.report && st.report.attempt;
      if (u.state !== row.state) { fill(u.mark, mark(row.state)); u.e.className = "unit " + row.state; }
      u.state = row.state;
      const word = row.state === "booting" ? at.state : WORDS[row.state];
      text(u.word, word + (row.state !== "error" && warns(row.o) ? " !" : ""));
      u.e.title = row.name + ": " + word + (st.phase ? ", " + st.phase : "") + (st.conditions || []).map((c) => ", " + c.code).join("");
    }
    const key = own.map((r) => r.name).join(" ");
    if (key !== seen) {
      seen = key;
      const out = [];
      for (let i = 0; i < own.length; i += FRAME) out.push(el("div", { class: "frame", role: "list", "aria-label": "Servers of " + name }, own.slice(i, i + FRAME).map((r) => el("div", { role: "listitem" }, units.get(r.name).e))));
      fill(frames, out.length ? out : el("p", { class: "faint" }, servers.synced ? "No server is in this rack." : "Reading…"));
    }
    counts.show(servers.counts.get(name));
    const a = agentOf(name), st = (a && a.o.status) || {}, r = racks.all.get(name), ice = frozen(name);
    if (racks.synced && !r) { fill(head, el("p", { class: "refused" }, "There is no rack " + name + ", or it is not yours to see.")); return; }
    fill(head, el("dl", { class: "facts" }, fact("Agent", a ? a.name : "none"), a && fact("Last report", ago(heard || st.lastReport)), a && fact("Version", st.version || "–"),
      ice && fact("Frozen", ice.spec.reason, " by ", (ice.status || {}).by || "?")),
      st.conditions && st.conditions.length ? conditions(st.conditions) : null);
    fill(acts, ice ? el("button", { onclick: () => thaw(ice) }, "End freeze") : el("button", { onclick: () => freeze(name) }, "Freeze"));
  };
  for (const t of [servers, racks, agents, freezes]) t.listen(refresh, signal);
  // When an agent was heard is no change that a watch tells of.
  let heard = "";
  const contact = async () => {
    const a = agentOf(name);
    if (a && !document.hidden) {
      try { heard = ((await get(one("agents", a.name), { signal })).status || {}).lastReport || ""; } catch { /* the notices say why */ }
    }
    if (!signal.aborted) refresh();
  };
  const beat = setInterval(contact, 10_000);
  signal.addEventListener("abort", () => clearInterval(beat), { once: true });
  frames.addEventListener("keydown", (ev) => {
    const by = { ArrowDown: 1, ArrowUp: -1, ArrowRight: FRAME, ArrowLeft: -FRAME }[ev.key];
    if (!by) return;
    const all = [...frames.querySelectorAll("a")], to = all[all.indexOf(document.activeElement) + by];
    if (to) { ev.preventDefault(); to.focus(); }
  });
  refresh();
  contact();
}
