// The fleet as the page has it: tables that watches fill.
import { watch } from "./hub.js";
import { STATES, stateOf } from "./state.js";

/** natural is a key that sorts names as people count: n2 before n10. */
export const natural = (name) => name.replace(/\d+/g, (d) => d.length > 15 ? d : d.padStart(15, "0"));

/** Table is what is known of the resources of a kind. */
class Table {
  #listeners = new Set();
  #due = 0;
  #order = null; // rows by name
  #moved = false; // some of #order have others in their place
  constructor(plural, query) {
    Object.assign(this, { plural, query, all: new Map(), synced: false, incomplete: null, problem: null, version: 0, age: 0, stop: null });
  }
  /** start begins to watch; more than once is once. */
  start() {
    if (this.stop) return this;
    this.stop = new AbortController();
    watch(this.plural, this.query, (e) => this.take(e), this.stop.signal);
    return this;
  }
  end() {
    if (this.stop) this.stop.abort();
    this.stop = null;
    this.clear();
    this.synced = false;
  }
  clear() {
    this.all.clear();
    this.#order = null;
  }
  take(e) {
    switch (e.type) {
      case "again":
        this.age++;
        this.synced = false;
        break;
      case "put": {
        const was = this.all.get(e.name);
        if (was) this.#moved = true;
        else this.#order = null;
        const row = this.row(e, was);
        row.age = this.age;
        this.all.set(e.name, row);
        this.changed(was, row);
        break;
      }
      case "gone":
        this.remove(e.name);
        break;
      case "synced":
        for (const [name, row] of this.all) if (row.age !== this.age) this.remove(name);
        this.synced = true;
        this.problem = null;
        this.incomplete = e.incomplete || null;
        break;
      case "lost":
        this.problem = e.problem;
        break;
      case "bookmark":
        if (!this.problem) return;
        this.problem = null;
        break;
      default:
        return;
    }
    this.touch();
  }
  remove(name) {
    const was = this.all.get(name);
    if (!was) return;
    this.all.delete(name);
    this.#order = null;
    this.changed(was, null);
  }
  row(e) { return { name: e.name, rack: e.rack || "", o: e.object, sort: natural(e.name) }; }
  changed() {}
  /** list is in the order of names. */
  list() {
    if (this.#order && this.#moved) this.#order = this.#order.map((r) => this.all.get(r.name));
    this.#moved = false;
    if (!this.#order) this.#order = [...this.all.values()].sort((a, b) => (a.sort < b.sort ? -1 : a.sort > b.sort ? 1 : 0));
    return this.#order;
  }
  /** touch has listeners called soon, however much comes. While all is told anew, they are called more rarely. */
  touch() {
    this.version++;
    if (this.#due) return;
    this.#due = setTimeout(() => {
      this.#due = 0;
      for (const f of [...this.#listeners]) f();
    }, this.synced ? 100 : 500);
  }
  /** listen has f called after changes until signal. */
  listen(f, signal) {
    this.#listeners.add(f);
    signal.addEventListener("abort", () => this.#listeners.delete(f), { once: true });
  }
}

/** Servers also counts them by rack and state, as they come. */
class Servers extends Table {
  counts = new Map(); // rack -> state -> count
  total = blank();
  row(e, was) {
    const r = super.row(e), sp = e.object.spec || {}, inv = (((e.object.status || {}).discovered || {}).inventory || {}).board || {};
    r.state = stateOf(e.object);
    r.sort = was ? was.sort : r.sort;
    r.find = [e.name, sp.bootMAC, ...(sp.macs || []), sp.uuid, inv.serial, (e.object.status || {}).claim].filter(Boolean).join(" ").toLowerCase();
    return r;
  }
  changed(was, now) {
    if (was) this.#add(was, -1);
    if (now) this.#add(now, 1);
  }
  #add(row, n) {
    let c = this.counts.get(row.rack);
    if (!c) this.counts.set(row.rack, c = blank());
    c[row.state] += n;
    c.all += n;
    this.total[row.state] += n;
    this.total.all += n;
  }
  clear() {
    super.clear();
    this.counts.clear();
    this.total = blank();
  }
  /** judge looks at all states anew: what conditions mean has become known. */
  judge() {
    for (const row of this.all.values()) {
      const is = stateOf(row.o);
      if (is === row.state) continue;
      this.#add(row, -1);
      row.state = is;
      this.#add(row, 1);
    }
    this.touch();
  }
}

const blank = () => Object.fromEntries([["all", 0], ...STATES.map((s) => [s, 0])]);

// Only what the page shows of many servers: 50,000 of them are some 15 MB.
export const servers = new Servers("servers", { only: "spec.bootMAC,spec.macs,spec.uuid,status.phase,status.claim,status.stale,status.conditions.code,status.report.power,status.report.attempt.state,status.discovered.inventory.board.serial" });
export const racks = new Table("racks", {});
export const agents = new Table("agents", { only: "spec.rackRef,status.role,status.lastReport,status.version,status.conditions" });
export const holds = new Table("holds", {});
export const claims = new Table("claims", {});
export const groups = new Table("servergroups", {});
export const freezes = new Table("freezes", {});
export const bmcs = new Table("bmcs", { field: "status.state=Pending", only: "spec,status.state,status.found" });
export const tables = [servers, racks, agents, holds, claims, groups, freezes, bmcs];

/** agentOf is the active agent of a rack. */
export function agentOf(rack) {
  for (const a of agents.all.values()) {
    if (((a.o.spec || {}).rackRef || {}).name === rack && (a.o.status || {}).role !== "standby") return a;
  }
  return null;
}
