// What a server is shown as: one state, the first that fits.

/** STATES in the order in which they matter. */
export const STATES = ["error", "unknown", "held", "booting", "on", "off"];
export const WORDS = { error: "Error", unknown: "Unknown", held: "Held", booting: "Booting", on: "On", off: "Off" };
export const ABOUT = {
  error: "phase Error, a failed boot, or a condition of severity error",
  unknown: "not read, or its agent is dark: what is said of it is old",
  held: "kept off by a hold",
  booting: "a boot is under way",
  on: "on, as its BMC says",
  off: "off, as its BMC says",
};

const UNDERWAY = new Set(["Preparing", "Armed", "PowerRequested", "Consumed", "Fetched"]);
// Of these nothing is known of the server, whatever was read before.
const BLIND = new Set(["Dark", "Stale", "BMCUnreachable", "BMCDenied", "BMCCredentialsMissing", "PowerUnknown", "NoAgent"]);

let registry = {};
/** know takes the registered conditions by code. */
export function know(all) { registry = all; }
export const condition = (code) => registry[code] || { title: code, severity: "warning", hint: "" };

/** stateOf is the state of a server as the API shows it. A violation outranks that nothing is known. */
export function stateOf(s) {
  const st = s.status || {}, r = st.report || {}, codes = (st.conditions || []).map((c) => c.code);
  if (codes.includes("HoldViolated")) return "error";
  if (st.stale || codes.some((c) => BLIND.has(c))) return "unknown";
  if (st.phase === "Error" || codes.some((c) => condition(c).severity === "error")) return "error";
  if (codes.includes("Held")) return "held";
  if (r.attempt && r.attempt.state === "Failed") return "error";
  if (r.attempt && UNDERWAY.has(r.attempt.state)) return "booting";
  if (r.power === "On") return "on";
  if (r.power === "Off") return "off";
  return "unknown";
}

/** warns reports whether something of the server is to be looked at that its state does not say. */
export const warns = (s) => ((s.status || {}).conditions || []).some((c) => condition(c.code).severity !== "info" && c.code !== "Held");
