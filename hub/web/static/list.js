// All servers as a list of which only what is seen is drawn, however many there are.
import { el, fill, mark, text } from "./dom.js";
import { servers } from "./fleet.js";
import { STATES, WORDS } from "./state.js";

const HEIGHT = 30; // of a row, as page.css has it
const SPARE = 4; // rows above and below what is seen

export function listView(main, { query }, signal) {
  let rows = [], drawn = new Map(), at = -1;
  const free = [];
  const count = el("span", { class: "faint", role: "status" });
  const find = el("input", { type: "search", id: "find", value: query.get("q") || "", placeholder: "Name, MAC, serial, claim", "aria-label": "Search servers", autocomplete: "off", spellcheck: "false" });
  const state = el("select", { "aria-label": "State" }, el("option", { value: "" }, "All states"), STATES.map((s) => el("option", { value: s, selected: query.get("state") === s }, WORDS[s])));
  const space = el("div", { class: "space" });
  const body = el("div", { class: "vlist", tabindex: 0, role: "grid", "aria-label": "Servers", "aria-colcount": 6 },
    el("div", { class: "vrow head", role: "row" }, ["Server", "Rack", "State", "Phase", "Claim", "MAC"].map((h) => el("span", { role: "columnheader" }, h))), space);
  fill(main, el("div", { class: "bar-top" }, el("h1", null, "Servers"), find, state, count), body);

  // A row is made once and told what it shows: while somebody scrolls, nothing is made, and nothing read of the page.
  const make = () => {
    const texts = [0, 1, 2, 3, 4, 5].map(() => document.createTextNode(""));
    const link = el("a", { role: "gridcell", tabindex: -1 }, texts[0]), icon = el("span", { class: "icon" });
    const e = el("div", { class: "vrow", role: "row" }, link, texts.slice(1).map((t, i) => el("span", { role: "gridcell" }, i === 1 && icon, t)));
    return { e, texts, link, icon, marks: {}, said: [], row: null, state: "", i: -1, at: false };
  };
  const say = (d, i, s) => { if (d.said[i] !== s) d.texts[i].data = d.said[i] = s; };
  const show = (d, row, i) => {
    if (d.i !== i) {
      d.i = i;
      d.e.style.transform = "translateY(" + i * HEIGHT + "px)";
      d.e.setAttribute("aria-rowindex", i + 2);
    }
    if (d.at !== (i === at)) d.e.classList.toggle("at", (d.at = i === at));
    if (d.row === row) return;
    const st = row.o.status || {};
    if (d.said[0] !== row.name) d.link.href = "#/server/" + encodeURIComponent(row.name);
    say(d, 0, row.name);
    say(d, 1, row.rack);
    say(d, 2, WORDS[row.state]);
    say(d, 3, st.phase || "");
    say(d, 4, st.claim || "");
    say(d, 5, (row.o.spec || {}).bootMAC || "");
    if (d.state !== row.state) d.icon.replaceChildren(d.marks[row.state] ||= mark(row.state));
    d.state = row.state;
    d.row = row;
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(body.scrollTop / HEIGHT) - SPARE);
    const last = Math.min(rows.length, Math.ceil((body.scrollTop + body.clientHeight) / HEIGHT) + SPARE);
    for (const [i, d] of drawn) if (i < first || i >= last) { drawn.delete(i); free.push(d); }
    for (let i = first; i < last; i++) {
      let d = drawn.get(i);
      if (!d) {
        d = free.pop();
        if (!d) space.append((d = make()).e);
        d.e.hidden = false;
        drawn.set(i, d);
      }
      show(d, rows[i], i);
    }
    for (const d of free) d.e.hidden = true;
  };
  const refresh = () => {
    const q = find.value.trim().toLowerCase(), bare = q.replace(/[-.]/g, ":"), want = state.value, all = servers.list();
    rows = !q && !want ? all : all.filter((r) => (!want || r.state === want) && (!q || r.find.includes(q) || r.find.includes(bare)));
    space.style.height = rows.length * HEIGHT + "px";
    body.setAttribute("aria-rowcount", rows.length + 1);
    text(count, rows.length.toLocaleString("en") + (rows.length === all.length ? "" : " of " + all.length.toLocaleString("en")) + (servers.synced ? "" : ", more come…"));
    if (at >= rows.length) at = rows.length - 1;
    draw();
  };
  const move = (to) => {
    at = Math.max(0, Math.min(rows.length - 1, to));
    const top = at * HEIGHT, room = body.clientHeight - 2 * HEIGHT;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top > body.scrollTop + room) body.scrollTop = top - room;
    draw();
    const d = drawn.get(at);
    if (d) { d.e.id = "row-at"; for (const o of drawn.values()) if (o !== d) o.e.removeAttribute("id"); body.setAttribute("aria-activedescendant", "row-at"); }
  };
  body.addEventListener("keydown", (ev) => {
    const page = Math.floor(body.clientHeight / HEIGHT) - 2;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 }[ev.key];
    if (to !== undefined) { ev.preventDefault(); move(to); }
    if (ev.key === "Enter" && rows[at]) location.hash = "#/server/" + encodeURIComponent(rows[at].name);
  });
  let due = 0;
  body.addEventListener("scroll", () => { if (!due) due = requestAnimationFrame(() => { due = 0; draw(); }); }, { passive: true });
  const again = () => {
    body.scrollTop = 0;
    at = -1;
    const p = new URLSearchParams();
    if (find.value.trim()) p.set("q", find.value.trim());
    if (state.value) p.set("state", state.value);
    history.replaceState(null, "", "#/servers" + (p.size ? "?" + p : ""));
    refresh();
  };
  find.addEventListener("input", again);
  find.addEventListener("keydown", (ev) => { if (ev.key === "ArrowDown" || ev.key === "Enter") { ev.preventDefault(); body.focus(); move(0); if (ev.key === "Enter" && rows.length === 1) location.hash = "#/server/" + encodeURIComponent(rows[0].name); } });
  state.addEventListener("change", again);
  const size = new ResizeObserver(draw);
  size.observe(body);
  signal.addEventListener("abort", () => size.disconnect(), { once: true });
  servers.listen(refresh, signal);
  refresh();
  if (query.has("find")) find.focus();
}
