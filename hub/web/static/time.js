// Times in the reader's zone or in UTC.
import { el } from "./dom.js";

let utc = false;
try { utc = localStorage.getItem("utc") === "1"; } catch { /* a browser that keeps nothing */ }
export const isUTC = () => utc;
export function setUTC(v) {
  utc = v;
  try { localStorage.setItem("utc", v ? "1" : "0"); } catch { /* likewise */ }
}

const opt = () => ({ hourCycle: "h23", timeZone: utc ? "UTC" : undefined });
/** clock is the time of day, with milliseconds where asked. */
export const clock = (t, ms) => new Date(t).toLocaleTimeString("en-GB", { ...opt(), hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: ms ? 3 : undefined });
/** stamp is date, time and zone. */
export const stamp = (t) => new Date(t).toLocaleString("sv-SE", { ...opt(), dateStyle: "short", timeStyle: "medium" }) + " " + zone(t);
const zone = (t) => utc ? "UTC" : (new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(new Date(t)).find((p) => p.type === "timeZoneName") || { value: "" }).value;

/** span is a length of time in one or two units. */
export function span(ms) {
  const neg = ms < 0, s = Math.abs(ms) / 1000;
  const t = s < 1 ? Math.round(s * 1000) + " ms" : s < 10 ? s.toFixed(1) + " s" : s < 120 ? Math.round(s) + " s" : s < 7200 ? Math.round(s / 60) + " min" : s < 172800 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " d";
  return (neg ? "−" : "") + t;
}

/** ago is an element that says how long ago something was, and on its title when. */
export function ago(t) {
  if (!t) return el("span", null, "–");
  return el("time", { datetime: t, title: stamp(t) }, span(Date.now() - new Date(t)) + " ago");
}
