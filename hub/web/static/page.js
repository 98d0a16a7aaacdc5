// Who reads the page, which view is shown, and what the hub lacks.
import { el, fill, text } from "./dom.js";
import { Problem, call, get, onSignedOut } from "./hub.js";
import { agents, freezes, holds, racks, servers, tables } from "./fleet.js";
import { know } from "./state.js";
import { refused } from "./acts.js";
import { isUTC, setUTC } from "./time.js";
import { fleetView, rackView } from "./places.js";
import { listView } from "./list.js";
import { serverView } from "./server.js";
import { workView } from "./work.js";

const main = document.getElementById("main"), top = document.getElementById("top"), notices = document.getElementById("notices");
let me = null, view = null, ready = null, notReady = null;

const VIEWS = [
  [/^\/?$/, fleetView, "Fleet", "fleet"],
  [/^\/rack\/([^/]+)$/, rackView, "Rack", "fleet"],
  [/^\/servers$/, listView, "Servers", "servers"],
  [/^\/server\/([^/]+)$/, serverView, "Server", "servers"],
  [/^\/work$/, workView, "Work", "work"],
];

function route() {
  if (!me) return;
  if (location.hash.startsWith("#/login/")) history.replaceState(null, "", "#/"); // who is in already
  const [path, q] = (location.hash.slice(1) || "/").split("?");
  for (const [at, show, title, tab] of VIEWS) {
    const m = at.exec(path);
    if (!m) continue;
    if (view) view.abort();
    view = new AbortController();
    let name = m[1] || "";
    try { name = decodeURIComponent(name); } catch { break; }
    document.title = (name ? name + " – " : "") + title + " – Rackboot";
    for (const a of top.querySelectorAll("nav a")) {
      if (a.dataset.tab === tab) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
    show(main, { name, query: new URLSearchParams(q), me }, view.signal);
    window.scrollTo(0, 0);
    return;
  }
  fill(main, el("p", { class: "refused" }, "There is nothing at this link."), el("a", { href: "#/" }, "To the fleet"));
}

function header() {
  const zone = el("button", { class: "quiet", "aria-pressed": isUTC() ? "true" : "false", title: "Show times in UTC", onclick: () => { setUTC(!isUTC()); header(); route(); } }, isUTC() ? "UTC" : "Local time");
  fill(top, el("a", { class: "brand", href: "#/" }, "Rackboot"),
    el("nav", { "aria-label": "Views" }, [["", "Fleet", "fleet"], ["servers", "Servers", "servers"], ["work", "Work", "work"]].map(([to, t, tab]) => el("a", { href: "#/" + to, "data-tab": tab }, t))),
    el("span", { class: "grow" }), zone,
    me && el("span", { class: "who", title: "Roles: " + me.roles.join(", ") }, me.name, el("small", null, me.roles.join(", "))),
    me && el("button", { class: "quiet", onclick: logout }, "Log out"));
}

/** look shows what the hub lacks: its store, its broker, its racks. */
let saidNotice = "";
function look() {
  const out = [], lost = tables.find((t) => t.problem), lacks = tables.find((t) => t.incomplete);
  if (lost) out.push(["error", lost.problem.status === 403 ? lost.plural + " are not yours to see: " + lost.problem.message : "What is shown may be old: " + lost.problem.message, lost.problem.hint]);
  else if (notReady) out.push(["error", notReady.message, notReady.hint]);
  if (lacks) out.push(["error", "The hub's store has lost something, and lists may lack what is there: " + lacks.incomplete.message, lacks.incomplete.hint]);
  const dark = [...agents.all.values()].filter((a) => (a.o.status || {}).role !== "standby" && ((a.o.status || {}).conditions || []).some((c) => c.code === "Dark"));
  if (dark.length && dark.length === agents.all.size) out.push(["error", "No rack reports: the present state of all servers is unknown", "Racks go on with what they have. Look at the broker and the hub's connection to it."]);
  else if (dark.length) out.push(["warn", dark.length + (dark.length === 1 ? " rack does" : " racks do") + " not report: " + dark.slice(0, 5).map((a) => ((a.o.spec || {}).rackRef || {}).name).join(", ") + (dark.length > 5 ? "…" : ""), "They go on with what they have. Check the agents' hosts and their connection to the hub."]);
  const said = JSON.stringify(out);
  if (said === saidNotice) return;
  saidNotice = said;
  fill(notices, out.map(([k, t, h]) => el("div", { class: "notice " + k }, el("strong", null, t), h && el("span", { class: "hint" }, h))));
}

async function readiness() {
  if (document.hidden) return;
  try {
    await get("/readyz");
    notReady = null;
  } catch (p) { notReady = p; }
  look();
}

function start() {
  header();
  for (const t of [racks, agents, servers, holds, freezes]) t.start();
  const signal = (ready = new AbortController()).signal;
  for (const t of tables) t.listen(look, signal);
  const beat = setInterval(readiness, 5000);
  signal.addEventListener("abort", () => clearInterval(beat), { once: true });
  get("conditions.json").then((all) => { know(all); servers.judge(); }, () => {});
  route();
}

function stop() {
  if (view) view.abort();
  if (ready) ready.abort();
  for (const t of tables) t.end();
  me = view = ready = notReady = null;
  saidNotice = "";
  fill(notices);
}

async function logout() {
  try { await call("DELETE", "session"); } catch { /* the hub is away; its session ends by itself */ }
  login();
}

/** atProvider is why somebody comes back from a provider without a session; null for who does not. */
async function atProvider() {
  const m = /^#\/login\/([a-z]+)$/.exec(location.hash);
  if (!m) return null;
  history.replaceState(null, "", "#/");
  const p = (await get("refusals.json"))[m[1]];
  return p ? new Problem(p) : null;
}

/** login asks for a provider's word, or a token. A token is sent once, and kept nowhere here. */
function login(p) {
  stop();
  fill(top, el("span", { class: "brand" }, "Rackboot"));
  document.title = "Log in – Rackboot";
  const said = el("div", null, p && p.message && p.status !== undefined && refused(p)), by = el("div");
  const token = el("input", { type: "password", id: "token", required: true, autocomplete: "off", maxlength: 16384, spellcheck: "false" });
  const go = el("button", { type: "submit", class: "primary" }, "Log in");
  const sent = async (what, button) => {
    button.disabled = true;
    try {
      await what();
    } catch (e) {
      fill(said, refused(e));
      button.disabled = false;
      button.focus();
    }
  };
  fill(main, el("form", { class: "login", onsubmit: (ev) => {
    ev.preventDefault();
    sent(async () => {
      const t = token.value;
      token.value = "";
      await call("POST", "session", { token: t });
      me = await get("/v1/whoami");
      start();
    }, go).then(() => { if (!me) token.focus(); });
  } }, el("h1", null, "Log in"), by, el("label", { for: "token" }, "Token"), token,
  el("small", null, "That of a client in the hub's file, the admin's, or an ID token that rackctl login --oidc has fetched. It is sent once; the browser keeps a session, not the token."), said, go));
  token.focus();
  get("oidc").then(({ issuer }) => {
    const ask = el("button", { type: "button", class: "primary", onclick: () => sent(async () => {
      const { url } = await call("POST", "oidc", { view: location.hash.slice(1) });
      location.assign(url);
    }, ask) }, "Log in with " + new URL(issuer).host);
    fill(by, ask, el("small", null, "As a person, with your own account. Or with a token:"));
    go.className = "";
    if (document.activeElement === token && !token.value) ask.focus();
  }, () => {}); // nobody logs in so
}

document.addEventListener("keydown", (ev) => {
  if (!me || ev.ctrlKey || ev.metaKey || ev.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(ev.target.tagName) || document.querySelector("dialog[open]")) return;
  const to = { "/": "#/servers?find", f: "#/", s: "#/servers", w: "#/work" }[ev.key];
  if (!to) return;
  ev.preventDefault();
  const find = ev.key === "/" && document.getElementById("find");
  if (find) find.focus();
  else location.hash = to;
});
addEventListener("hashchange", route);
onSignedOut((p) => { if (me) login(p); });

try {
  me = await get("/v1/whoami"); // by a session, or a certificate of the browser's
  start();
} catch (p) {
  if (p instanceof Problem && p.status !== 401) fill(main, refused(p), el("button", { onclick: () => location.reload() }, "Try again"));
  else login(await atProvider().catch(() => null));
}
