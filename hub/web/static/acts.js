// What somebody does here: each act says what it will do, asks, and shows what the hub answered. Rights are the
// hub's to judge: what is refused is shown with its hint.
import { el, fill } from "./dom.js";
import { call, one } from "./hub.js";

/** refused shows an error with what to do. */
export function refused(p) {
  return el("div", { class: "refused", role: "alert" },
    el("strong", null, p.code ? p.code.replace("_", " ") : "failed"), " ", p.message,
    (p.errors || []).map((e) => el("div", null, (e.path ? e.path + " " : "") + e.message)),
    p.hint && el("div", { class: "hint" }, p.hint));
}

/** ask opens a dialog. act = {title, says, warn, fields, verb, danger, run(values, key)}; it resolves to what run returned,
 * or null where nobody said yes. */
export function ask(act) {
  return new Promise((resolve) => {
    const key = crypto.randomUUID(); // a second press is the same request
    const answer = el("div");
    const inputs = (act.fields || []).map((f) => ({ f, e: field(f) }));
    const go = el("button", { type: "submit", class: act.danger ? "danger" : "primary" }, act.verb);
    const back = el("button", { type: "button", onclick: () => d.close() }, "Cancel");
    const d = el("dialog", { "aria-labelledby": "ask-title" },
      el("form", { onsubmit: async (ev) => {
        ev.preventDefault();
        go.disabled = true;
        try {
          const values = Object.fromEntries(inputs.map(({ f, e }) => [f.name, e.type === "checkbox" ? e.checked : e.value.trim()]));
          const out = await act.run(values, key);
          resolve(out === undefined ? true : out);
          d.close();
        } catch (p) {
          fill(answer, refused(p));
          go.disabled = false;
        }
      } },
      el("h2", { id: "ask-title" }, act.title),
      el("p", null, act.says),
      act.warn && el("p", { class: "warn" }, act.warn),
      inputs.map(({ f, e }) => el("label", { class: f.type === "checkbox" ? "tick" : "" }, el("span", null, f.label), e, f.about && el("small", null, f.about))),
      answer,
      el("div", { class: "row end" }, back, go)));
    d.addEventListener("close", () => { d.remove(); resolve(null); });
    document.body.append(d);
    d.showModal();
  });
}

function field(f) {
  if (f.options) return el("select", { name: f.name }, f.options.map(([v, t]) => el("option", { value: v }, t)));
  return el("input", { name: f.name, type: f.type || "text", value: f.value, required: f.required, maxlength: f.max || 1024, autocomplete: "off", placeholder: f.placeholder });
}

const MODES = { name: "mode", label: "Mode", options: [["soft", "soft: ask the system to stop first"], ["hard", "hard: power off at once"]] };
const REASON = { name: "reason", label: "Reason", about: "for whoever meets it; it is recorded" };

export const hold = (server) => ask({
  title: "Hold " + server,
  says: "Stops " + server + " and keeps it off until the hold is released. Its claim stays; nothing boots it meanwhile.",
  fields: [MODES, { name: "key", label: "Key", value: "page", required: true, max: 128, about: "the same key again, by you, is the same hold" }, REASON],
  verb: "Hold " + server, danger: true,
  run: (v, key) => call("POST", one("servers", server) + "/holds", { key: v.key, mode: v.mode, reason: v.reason || undefined }, { key }),
});

/** release of a hold: its owner's, or by breaking glass. */
export const release = (h, me) => {
  const own = h.spec.owner === me.name;
  return ask({
    title: "Release the hold on " + h.spec.server,
    says: "Ends the hold " + h.spec.key + " of " + h.spec.owner + ". With the last hold gone, " + h.spec.server + " is switched on again where its claim wants it on.",
    warn: own ? "" : "It is not yours. Releasing it breaks glass: whoever placed it relies on the server being off.",
    fields: own ? [] : [{ name: "reason", label: "Why you release a hold that is not yours", required: true }],
    verb: "Release", danger: !own,
    run: (v, key) => call("POST", one("holds", h.metadata.name) + "/release", v.reason ? { breakGlass: v.reason } : {}, { key }),
  });
};

const request = (server, action, title, says, fields, danger) => ask({
  title, says, fields, verb: title, danger,
  run: (v, key) => call("POST", one("servers", server) + "/requests", { action, mode: v.mode, reason: v.reason || undefined, anyPhase: v.anyPhase || undefined, retry: v.retry || undefined }, { key }),
});

export const reboot = (server) => request(server, "reboot", "Reboot " + server,
  "Stops " + server + " and starts it once more with the boot that its claim prescribes. It is void if it was not begun within 10 minutes.",
  [MODES, { name: "anyPhase", label: "Also without a claim, and during a first boot, which it ends", type: "checkbox" }], true);
export const powerOff = (server) => request(server, "power-off", "Power off " + server,
  "Stops " + server + " once. Nothing keeps it off: for that, hold it. A server whose claim wants it on is refused.", [MODES], true);
export const resume = (server) => request(server, "resume", "Resume " + server,
  "Boots " + server + " on as its claim prescribes, after something else stopped or started it.",
  [{ ...REASON, required: true, about: "what was found at the server" }, { name: "retry", label: "Boot from the network once more if its grant is used up: an installation begins anew", type: "checkbox" }], true);

export const cancel = (q) => ask({
  title: "Take back the " + q.action + " of " + q.server, says: "Takes the request back if nothing was sent for it.", verb: "Take back",
  run: (v, key) => call("POST", one("requests", q.id) + "/cancel", undefined, { key }),
});

export const approve = (a) => ask({
  title: "Approve: " + a.class, says: "Lets " + targets(a) + " in rack " + a.rack + " have what " + (a.asked || []).join(", ") + " asked for" + (a.reason ? ": " + a.reason : "") + ".",
  warn: a.class === "wipe" || a.class === "reprovision" ? "What is on the disks of these servers is lost." : "",
  verb: "Approve", danger: true, run: (v, key) => call("POST", one("approvals", a.id) + "/grant", { version: a.version }, { key }),
});
export const deny = (a) => ask({
  title: "Deny: " + a.class, says: "Refuses " + targets(a) + " what was asked for. Who wants it must ask anew.", fields: [REASON], verb: "Deny",
  run: (v, key) => call("POST", one("approvals", a.id) + "/deny", { reason: v.reason || undefined }, { key }),
});
const targets = (a) => a.targets.length <= 4 ? a.targets.join(", ") : a.targets.length + " targets (" + a.targets.slice(0, 3).join(", ") + "…)";

export const freeze = (rack) => ask({
  title: "Freeze rack " + rack,
  says: "Keeps the servers of " + rack + " from being switched on, restarted or armed. What runs is left; holds, releases and stops go on.",
  fields: [{ ...REASON, required: true }, { name: "hours", label: "Ends by itself after hours", type: "number", placeholder: "never", max: 4 }],
  verb: "Freeze " + rack, danger: true,
  run: (v, key) => call("PUT", one("freezes", "rack-" + rack), {
    apiVersion: "rackboot/v1", kind: "Freeze", metadata: { name: "rack-" + rack },
    spec: { rackRef: { name: rack }, reason: v.reason, until: Number(v.hours) > 0 ? new Date(Date.now() + Number(v.hours) * 3.6e6).toISOString() : undefined },
  }, { key }),
});
export const thaw = (f) => ask({
  title: "End the freeze " + f.metadata.name, says: "Its servers may be switched on, restarted and armed again; what waits for that begins.", verb: "End the freeze", danger: true,
  run: (v, key) => call("DELETE", one("freezes", f.metadata.name), undefined, { key }),
});

export const accept = (name, r) => ask({
  title: "Accept what " + name + " shows",
  says: "Trusts the board and interfaces that the BMC shows now as those of " + name + ". The server may be powered on again after it.",
  warn: "Identity " + r.identity, verb: "Accept", danger: true,
  run: (v, key) => call("POST", one("servers", name) + "/accept", { identity: r.identity }, { key }),
});
export const acceptBMC = (b) => ask({
  title: "Accept the BMC " + b.metadata.name,
  says: "Only then are credentials tried on it. Compare the fingerprint at the BMC first.",
  fields: [{ name: "fingerprint", label: "Fingerprint", value: (b.status.found || {}).fingerprint || "", required: true }, { name: "credentials", label: "Credentials", required: true, placeholder: "secret:NAME or local:NAME" }],
  verb: "Accept", danger: true,
  run: (v, key) => call("POST", one("bmcs", b.metadata.name) + "/accept", { credentialsRef: v.credentials, fingerprint: v.fingerprint }, { key }),
});
