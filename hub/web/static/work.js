// What people want and wait for: claims, groups with their roll-outs, holds, requests, approvals, freezes, found BMCs.
import { el, fill } from "./dom.js";
import { get } from "./hub.js";
import { bmcs, claims, freezes, groups, holds } from "./fleet.js";
import * as acts from "./acts.js";
import { rack, server, table } from "./parts.js";
import { stamp } from "./time.js";

const MOST = 300; // rows that a table draws; more are counted

const some = (rows) => rows.slice(0, MOST);
const rest = (rows) => rows.length > MOST ? el("p", { class: "faint" }, (rows.length - MOST).toLocaleString("en") + " more; search finds them.") : null;

/** progress draws a roll-out. */
function progress(g) {
  const r = (g.status || {}).rollout;
  if (!r) return el("span", { class: "faint" }, "none");
  const all = Object.values(r.members || {}), by = {};
  for (const m of all) by[m.state || "?"] = (by[m.state || "?"] || 0) + 1;
  const done = by.Done || 0;
  return el("div", null, r.phase, " r", r.revision, " ", all.length ? el("progress", { max: all.length, value: done, "aria-label": "Roll-out of " + g.metadata.name }) : "", el("small", null, Object.entries(by).map(([k, n]) => n + " " + k).join(", "), r.reason ? " " + r.reason : ""));
}

export function workView(main, { me, query }, signal) {
  const want = query.get("claim");
  const find = el("input", { type: "search", "aria-label": "Search", placeholder: "Name", value: want || "", autocomplete: "off" });
  const out = Object.fromEntries(["approvals", "requests", "rollouts", "claims", "holds", "freezes", "bmcs"].map((k) => [k, el("div")]));
  const panel = (k, h) => el("section", { class: "panel", "aria-labelledby": "w-" + k }, el("h2", { id: "w-" + k }, h), out[k]);
  fill(main, el("div", { class: "bar-top" }, el("h1", null, "Work"), find), el("div", { class: "stack" },
    panel("approvals", "Approvals"), panel("requests", "Requests"), panel("rollouts", "Groups and roll-outs"), panel("claims", "Claims"), panel("holds", "Holds"), panel("freezes", "Freezes"), panel("bmcs", "BMCs that were found")));
  const fits = (...words) => { const q = find.value.trim().toLowerCase(); return !q || words.some((w) => (w || "").toLowerCase().includes(q)); };
  let approvals = [], requests = [];
  const said = {};
  // A table is drawn anew only where it says something else: who reads it keeps place and focus.
  const set = (k, key, ...c) => { const s = JSON.stringify(key); if (said[k] !== s) { said[k] = s; fill(out[k], c); } };
  const show = () => {
    const own = (t) => t.list().map((r) => r.o);
    const as = approvals.filter((a) => fits(a.id, a.class, ...a.targets)), as2 = [...as.filter((a) => a.state === "Pending"), ...as.filter((a) => a.state !== "Pending").reverse()];
    set("approvals", as2, table("Approvals", ["State", "What", "Rack", "Targets", "Asked by", "Approved by", "Until", ""], some(as2).map((a) => [a.state, a.class, rack(a.rack), a.targets.slice(0, 4).join(", ") + (a.targets.length > 4 ? " and " + (a.targets.length - 4) + " more" : ""), (a.asked || []).join(", "), (a.by || []).join(", ") || "–", stamp(a.notAfter),
      a.state === "Pending" ? el("div", { class: "row" }, el("button", { onclick: () => acts.approve(a).then(load) }, "Approve"), el("button", { onclick: () => acts.deny(a).then(load) }, "Deny")) : a.message || ""]), "Nothing waits for a second person."));
    const qs = requests.filter((q) => fits(q.id, q.server));
    set("requests", qs, table("Requests", ["Asked", "Server", "Action", "By", "Outcome", ""], some(qs).map((q) => [stamp(q.createdAt), server(q.server), q.action + " " + q.mode, q.by, q.report.outcome + (q.report.reason ? ": " + q.report.reason : ""), q.report.outcome === "pending" && !q.cancelled ? el("button", { onclick: () => acts.cancel(q).then(load) }, "Take back") : ""]), "Nothing was asked for lately."), rest(qs));
    const gs = own(groups).filter((g) => fits(g.metadata.name));
    set("rollouts", gs, table("Groups", ["Group", "Revision", "Servers", "Older", "Pinned", "Roll-out"], some(gs).map((g) => { const s = g.status || {}, n = s.counts || {}; return [g.metadata.name, s.revision || "–", n.servers ?? "–", n.older ?? "–", s.pinned ? "pinned" : "", progress(g)]; }), "There are no groups."), rest(gs));
    const cs = own(claims).filter((c) => fits(c.metadata.name, (c.status || {}).server));
    set("claims", cs, table("Claims", ["Claim", "Server", "Phase", "Power", "Image", "Provisioned", "Evidence"], some(cs).map((c) => { const s = c.status || {}, b = s.boot || {}; return [c.metadata.name, s.server ? server(s.server) : "none yet", s.phase || "–", c.spec.power, el("span", { class: "clip", title: b.digest }, b.reference || c.spec.image || c.spec.bootEnv || "–"), b.provisionedAt ? stamp(b.provisionedAt) : "–", s.evidenceClass || "–"]; }), "There are no claims."), rest(cs));
    const hs = own(holds).filter((h) => fits(h.metadata.name, h.spec.server, h.spec.owner, h.spec.key));
    set("holds", hs, table("Holds", ["Server", "Key", "Owner", "Mode", "State", "Reason", ""], some(hs).map((h) => [server(h.spec.server), h.spec.key, h.spec.owner, h.spec.mode, (h.status || {}).state || "Accepted", h.spec.reason || "", (h.status || {}).releasedAt ? "" : el("button", { onclick: () => acts.release(h, me) }, "Release")]), "Nothing is held."), rest(hs));
    const fs = own(freezes);
    set("freezes", fs, table("Freezes", ["Freeze", "Of", "Servers", "By", "Until", "Reason", ""], fs.map((f) => [f.metadata.name, f.spec.all ? "everything" : f.spec.rackRef ? rack(f.spec.rackRef.name) : "a selector", (f.status || {}).servers ?? "–", (f.status || {}).by || "–", f.spec.until ? stamp(f.spec.until) : "never", f.spec.reason, el("button", { onclick: () => acts.thaw(f) }, "End")]), "Nothing is frozen."));
    const bs = own(bmcs);
    set("bmcs", bs, table("BMCs", ["BMC", "Rack", "Address", "Fingerprint", ""], bs.map((b) => [b.metadata.name, rack(((b.spec || {}).rackRef || {}).name), (b.spec || {}).address || (b.status.found || {}).address || "–", el("span", { class: "clip" }, (b.status.found || {}).fingerprint || "–"), el("button", { onclick: () => acts.acceptBMC(b) }, "Accept")]), "None waits to be accepted."));
  };
  let busy = false;
  const load = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const [a, q] = await Promise.all([get("/v1/approvals", { signal }), get("/v1/requests", { signal })]);
      approvals = a.items;
      requests = q.items.reverse();
      show();
    } catch (p) {
      if (!signal.aborted) { delete said.approvals; fill(out.approvals, acts.refused(p)); }
    } finally {
      busy = false;
    }
  };
  for (const t of [claims, groups, holds, freezes, bmcs]) t.start().listen(show, signal);
  find.addEventListener("input", show);
  const beat = setInterval(load, 3000);
  signal.addEventListener("abort", () => clearInterval(beat), { once: true });
  show();
  load();
}
