// What the page asks of the hub's API, as rackctl does.

const PAGE = { "Rackboot-Page": "1" };
const TIMEOUT = 30_000; // of one call: a trace waits for its agent for 15 s
const SILENCE = 30_000; // after it a watch counts as gone: a line comes each 10 s

/** Problem is an error of the hub's (RFC 9457), or that it was not reached. */
export class Problem extends Error {
  constructor(p) {
    super(p.detail || "the hub answered status " + p.status);
    Object.assign(this, { code: p.code || "", status: p.status || 0, hint: p.hint || "", errors: p.errors || [] });
  }
}

const away = () => new Problem({ code: "unavailable", status: 0, detail: "the hub does not answer", hint: "the page tries again by itself; look at the hub and the way to it" });

async function problemOf(res) {
  let p = {};
  try { p = await res.json(); } catch { /* something between here and the hub has answered */ }
  return new Problem({ ...p, status: res.status });
}

let lost = () => {};
/** onSignedOut has f called when the hub knows the reader no more. */
export function onSignedOut(f) { lost = f; }

/** call asks once, and returns the answer. */
export async function call(method, path, body, { signal, key } = {}) {
  const headers = { ...PAGE, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const limit = AbortSignal.timeout(TIMEOUT);
  let res;
  try {
    res = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: signal ? AbortSignal.any([signal, limit]) : limit, redirect: "error" });
  } catch (e) {
    if (signal && signal.aborted) throw e;
    throw away();
  }
  if (!res.ok) {
    const p = await problemOf(res);
    if (p.status === 401 && path !== "session") lost(p);
    throw p;
  }
  return res.status === 204 ? null : res.json();
}

export const get = (path, opt) => call("GET", path, undefined, opt);
export const one = (plural, name) => "/v1/" + plural + "/" + encodeURIComponent(name);

const sleep = (ms, signal) => new Promise((ok) => {
  const t = setTimeout(ok, ms);
  signal.addEventListener("abort", () => { clearTimeout(t); ok(); }, { once: true });
});

/** watch tells on of each line until signal: first all that is there, then what changes. It goes on by itself where a
 * connection ends; on({type:"lost", problem}) says that it has none. */
export async function watch(plural, query, on, signal) {
  let position = "", wait = 500;
  while (!signal.aborted) {
    const q = new URLSearchParams(query);
    if (position) q.set("position", position);
    const cut = new AbortController();
    let timer = setTimeout(() => cut.abort(), SILENCE);
    try {
      const res = await fetch("/v1/watch/" + plural + "?" + q, { headers: PAGE, signal: AbortSignal.any([signal, cut.signal]), redirect: "error" });
      if (!res.ok) throw await problemOf(res);
      const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(() => cut.abort(), SILENCE);
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        let shown = performance.now();
        for (const line of lines) {
          if (!line) continue;
          const e = JSON.parse(line);
          if (e.position) position = e.position;
          if (e.type === "end" && e.problem) throw new Problem(e.problem);
          if (e.type === "synced") wait = 500;
          on(e);
          if (performance.now() - shown > 8) { // somebody may be scrolling
            await new Promise((ok) => setTimeout(ok));
            shown = performance.now();
          }
        }
      }
    } catch (e) {
      if (signal.aborted) return;
      const p = e instanceof Problem ? e : away();
      if (p.status === 401) { lost(p); return; }
      on({ type: "lost", problem: p });
      if (p.status === 403) return; // it is nobody's to see who reads this
      if (p.status === 400) position = "";
    } finally {
      clearTimeout(timer);
      cut.abort();
    }
    await sleep(wait * (0.75 + Math.random() / 2), signal);
    wait = Math.min(wait * 2, 15_000);
  }
}
