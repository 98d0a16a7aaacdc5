// All servers as a list of which only what is seen is drawn, however many there are.
import { el, fill, mark, text } from "./dom.js";
import { servers } from "./fleet.js";
import { STATES, WORDS } from "./state.js";

const HEIGHT = 30; // of a row, as page.css has it
const SPARE = 8; // rows above and below what is seen

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

  const make = () => {
    const cells = [el("a", { role: "gridcell", tabindex: -1 }), ...[1, 2, 3, 4, 5].map(() => el("span", { role: "gridcell" }))];
    const e = el("div", { class: "vrow", role: "row" }, cells);
    return { e, cells, row: null, state: "", i: -1 };
  };
  const show = (d, row, i) => {
    if (d.i !== i) {
      d.i = i;
      d.e.style.transform = "translateY(" + i * HEIGHT + "px)";
      d.e.setAttribute("aria-rowindex", i + 2);
    }
    d.e.classList.toggle("at", i === at);
    if (d.row === row) return;
    const [n, r, s, p, c, m] = d.cells, st = row.o.status || {};
    text(n, row.name);
    n.href = "#/server/" + encodeURIComponent(row.name);
    text(r, row.rack);
    if (d.state !== row.state) fill(s, mark(row.state), WORDS[row.state]);
    d.state = row.state;
    text(p, st.phase || "");
    text(c, st.claim || "");
    text(m, (row.o.spec || {}).bootMAC || "");
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
