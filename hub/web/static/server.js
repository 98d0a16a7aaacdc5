// One server: what it is, what stands in its way, its boot as it goes on, holds and what happened.
import { el, fill } from "./dom.js";
import { get, one } from "./hub.js";
import { holds, servers } from "./fleet.js";
import * as acts from "./acts.js";
import { badge, conditions, fact, link, rack, table } from "./parts.js";
import { stateOf } from "./state.js";
import { ago, clock, span, stamp } from "./time.js";

const STEPS = ["Preparing", "Armed", "PowerRequested", "Consumed", "Fetched", "Succeeded"];
const STEP = { PowerRequested: "Power on" };

/** timeline draws how far a boot has come and each thing that was seen. */
function timeline(t) {
  const failed = t.state === "Failed", at = STEPS.indexOf(t.state), disk = t.intended === "Hdd";
  const steps = STEPS.filter((s) => !(disk && s === "Fetched"));
  let last = null;
  return [
    el("ol", { class: "steps", "aria-label": "How far the boot has come" }, steps.map((s) => {
      const done = !failed && STEPS.indexOf(s) <= at;
      return el("li", { class: done ? (s === t.state && s !== "Succeeded" ? "now" : "done") : "", "aria-current": s === t.state ? "step" : null }, STEP[s] || s);
    }), failed && el("li", { class: "failed", "aria-current": "step" }, "Failed")),
    failed && el("p", { class: "refused" }, el("strong", null, t.code || "Failed"), " ", t.reason || ""),
    el("p", { class: "faint" }, t.intended + " for the " + t.purpose + ", attempt " + t.serial + ", began " + stamp(t.began) + (t.observed && t.observed !== t.intended ? ", and firmware used " + t.observed : "")),
    el("ol", { class: "rows", tabindex: 0, "aria-label": "What was seen of the boot" }, (t.rows || []).map((r) => {
      const since = last === null ? "" : "+" + span(new Date(r.at) - last);
      last = new Date(r.at);
      return el("li", { class: r.source }, el("time", { datetime: r.at }, clock(r.at, true)), el("span", { class: "since" }, since), el("span", { class: "src" }, r.source),
        el("span", null, el("b", null, r.what), " ", r.source === "gap" ? r.dropped + " rows" : r.detail || ""));
    })),
  ];
}

/** holdCard shows a hold and how far it has come. */
function holdCard(h, me, again) {
  const st = h.status || {}, words = ["Accepted", "Enforced", "Fenced"], at = words.indexOf(st.word), r = st.receipt;
  return el("div", { class: "card" },
    el("div", { class: "row" }, el("strong", null, h.spec.key), " of ", h.spec.owner, el("span", { class: "faint" }, h.spec.mode), el("span", { class: "grow" }),
      st.releasedAt ? el("span", { class: "faint" }, "released, the agent has not said so yet") : el("button", { onclick: () => acts.release(h, me).then(again) }, "Release")),
    h.spec.reason && el("p", null, h.spec.reason),
    el("ol", { class: "steps", "aria-label": "How far the hold has come" }, words.map((w, i) => el("li", { class: i <= at ? "done" : "", "aria-current": i === at ? "step" : null }, w))),
    el("p", null, el("span", { class: st.state === "Fenced" ? "" : "faint" }, st.state || "Accepted", st.message ? ": " + st.message : "")),
    r && el("details", null, el("summary", null, "Receipt: off since " + stamp(r.stoppedSince)),
      el("dl", { class: "facts" }, fact("First read", stamp(r.firstRead)), fact("Proved", stamp(r.confirmedAt)), fact("Reads", r.reads, " over ", span(r.settle / 1e6)), fact("Longest gap", span((r.longestGap || 0) / 1e6)),
        fact("Agent", r.agent), fact("Power epoch", r.powerEpoch), fact("When mains power returns", r.restorePolicy || "as the server is set"))));
}

export function serverView(main, { name, me }, signal) {
  const title = el("h1", null, name), state = el("span"), top = el("div", { class: "row acts" });
  const facts = el("div"), cond = el("div"), boot = el("div", null, el("p", { class: "faint" }, "Reading…")), held = el("div"), past = el("div"), asked = el("div"), err = el("div");
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Where this is" });
  const kept = el("select", { "aria-label": "Which boot", hidden: true });
  const box = (id, h, ...c) => el("section", { class: "panel " + id, "aria-labelledby": "h-" + id }, el("div", { class: "row" }, el("h2", { id: "h-" + id }, h), id === "boot" && kept), c);
  fill(main, crumbs, el("div", { class: "bar-top" }, title, state, el("span", { class: "grow" }), top), err,
    el("div", { class: "panels" },
      el("div", null, box("cond", "Conditions", cond), box("hold", "Holds", held), box("is", "What it is", facts)),
      el("div", null, box("boot", "Boot", boot), box("asked", "Requests", asked), box("past", "What happened", past))));

  let obj = null, busy = false, more = false, traced = "", serial = 0, after = 0;
  let events = [], requests = [];
  kept.addEventListener("change", () => { serial = Number(kept.value); traced = ""; load(); });

  // What says the same is not drawn anew: who reads it keeps place and focus.
  const drawn = new Map();
  const set = (to, key, make) => {
    const k = JSON.stringify(key) || "";
    if (drawn.get(to) === k) return;
    drawn.set(to, k);
    fill(to, make());
  };
  const show = () => {
    const s = obj, st = s.status || {}, r = st.report || {}, at = r.attempt || {}, inv = ((st.discovered || {}).inventory || {}).board || {};
    const row = servers.all.get(name);
    set(crumbs, row && row.rack, () => [el("a", { href: "#/" }, "Fleet"), " / ", row && row.rack ? [rack(row.rack), " / "] : "", name]);
    fill(state, badge(stateOf(s)));
    fill(cond, conditions(st.conditions));
    fill(facts, el("dl", { class: "facts" }, fact("Phase", st.phase || "–"), fact("Power", r.power || "unknown", st.stale ? ", old" : ""), fact("Read", ago(st.readAt)),
      fact("Claim", st.claim ? link("work?claim=" + encodeURIComponent(st.claim), st.claim) : "none"),
      fact("Evidence", st.evidenceClass ? st.evidenceClass + (at.evidence ? ", " + at.evidence : "") : "–"), fact("Boots", at.intended ? at.intended + (at.observed ? ", used " + at.observed : "") : "–"),
      fact("Secrets", st.secrets || "none"), fact("Safe stop", st.safeStop || "–", st.safeStopReason ? el("small", null, st.safeStopReason) : ""), fact("Detects", st.detects || "–"),
      fact("Architecture", s.spec.architecture || st.architecture || "–"), fact("MAC", [s.spec.bootMAC, ...(s.spec.macs || [])].join(", ")), s.spec.uuid && fact("UUID", s.spec.uuid), inv.serial && fact("Serial", inv.serial),
      fact("BMC", s.spec.bmcRef.name), r.awaits && fact("Waits for", r.awaits.for, r.awaits.until ? " until " + stamp(r.awaits.until) : "")));
    const stopped = (st.conditions || []).some((c) => c.code === "SafeStopped" || c.code === "UnexpectedPower");
    set(top, [stopped, r.identityChange && r.identity], () => [el("button", { onclick: () => acts.hold(name).then(load) }, "Hold"), el("button", { onclick: () => acts.reboot(name).then(load) }, "Reboot"), el("button", { onclick: () => acts.powerOff(name).then(load) }, "Power off"),
      stopped && el("button", { onclick: () => acts.resume(name).then(load) }, "Resume"),
      r.identityChange && el("button", { onclick: () => acts.accept(name, r).then(load) }, "Accept identity")]);
    showHolds();
    set(asked, requests, () => table("Requests", ["Asked", "Action", "By", "Outcome", ""], requests.map((q) => [el("time", { datetime: q.createdAt }, stamp(q.createdAt)), q.action + " " + q.mode, q.by, [q.report.outcome, q.report.reason ? ": " + q.report.reason : ""],
      q.report.outcome === "pending" && !q.cancelled ? el("button", { onclick: () => acts.cancel(q).then(load) }, "Take back") : ""]), "Nothing was asked for."));
    set(past, [events.length, events.at(-1)], () => events.length ? el("ol", { class: "rows", tabindex: 0, "aria-label": "What happened" }, events.slice(-200).reverse().map((e) => el("li", null, el("time", { datetime: e.at }, stamp(e.at)), el("span", null, el("b", null, e.code), " ", e.message || "")))) : el("p", { class: "faint" }, "Nothing is on record."));
  };
  // What somebody has opened stays open.
  let heldKey = "";
  const showHolds = () => {
    const own = [...holds.all.values()].map((h) => h.o).filter((h) => h.spec.server === name);
    const key = JSON.stringify(own.map((h) => [h.metadata.name, h.status && [h.status.word, h.status.state, h.status.message, h.status.releasedAt, h.status.receipt && h.status.receipt.stoppedSince]]));
    if (key === heldKey) return;
    heldKey = key;
    fill(held, own.length ? own.map((h) => holdCard(h, me, load)) : el("p", { class: "faint" }, "Nobody holds it."));
  };
  const trace = async () => {
    const at = ((obj.status || {}).report || {}).attempt;
    const key = JSON.stringify([at && at.id, at && at.state, serial]);
    if (!at) { fill(boot, el("p", { class: "faint" }, "It was not booted yet.")); kept.hidden = true; return; }
    const under = !["Succeeded", "Failed"].includes(at.state);
    if (key === traced && !under) return;
    try {
      const t = await get(one("servers", name) + "/trace" + (serial ? "?attempt=" + serial : ""), { signal });
      traced = key;
      const all = (t.kept || [t.serial]).slice().reverse();
      kept.hidden = all.length < 2;
      const was = kept.dataset.all, now = all.join();
      if (was !== now) { kept.dataset.all = now; fill(kept, el("option", { value: 0 }, "newest"), all.map((n) => el("option", { value: n, selected: n === serial }, "attempt " + n))); }
      fill(boot, timeline(t));
    } catch (p) {
      if (!signal.aborted) fill(boot, acts.refused(p));
    }
  };
  const happened = async () => {
    for (let i = 0; i < 5; i++) {
      const l = await get("/v1/events?limit=1000&after=" + after + "&for=" + encodeURIComponent("Server/" + name), { signal });
      events = events.concat(l.items).slice(-1000);
      const full = l.items.length === 1000;
      after = l.next || after;
      if (!full) return;
    }
  };
  const load = async () => {
    if (busy) { more = true; return; }
    busy = true;
    try {
      const [s, q] = await Promise.all([get(one("servers", name), { signal }), get("/v1/requests?server=" + encodeURIComponent(name), { signal })]);
      obj = s;
      requests = q.items.slice().reverse();
      await happened();
      fill(err);
      show();
      trace();
    } catch (p) {
      if (!signal.aborted) fill(err, acts.refused(p));
    } finally {
      busy = false;
      if (more && !signal.aborted) { more = false; load(); }
    }
  };
  let was = null;
  servers.listen(() => { const row = servers.all.get(name); if (row !== was) { was = row; load(); } }, signal);
  holds.listen(() => obj && showHolds(), signal);
  const beat = setInterval(() => { if (!document.hidden) load(); }, 2000);
  signal.addEventListener("abort", () => clearInterval(beat), { once: true });
  load();
}
