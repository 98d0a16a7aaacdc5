// Elements are made by name and never from text: nothing that a server says becomes markup.

/** el makes an element. Attributes that begin with "on" are listeners; null and false are left out. */
export function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "class") e.className = v;
    else e.setAttribute(k, v === true ? "" : String(v));
  }
  put(e, children);
  return e;
}

function put(e, children) {
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false) continue;
    e.append(c instanceof Node ? c : String(c));
  }
}

/** fill replaces what is in an element. */
export function fill(e, ...children) {
  e.replaceChildren();
  put(e, children);
  return e;
}

/** text sets the text of an element where it is another. */
export function text(e, s) {
  if (e.textContent !== s) e.textContent = s;
}

const NS = "http://www.w3.org/2000/svg";
export function svg(tag, attrs, ...children) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// The shapes differ without their colours, for who sees none.
const shapes = {
  on: () => [svg("circle", { cx: 8, cy: 8, r: 5, class: "f" })],
  off: () => [svg("circle", { cx: 8, cy: 8, r: 4.2, class: "s" })],
  booting: () => [svg("path", { d: "M8 1.8 14.2 8 8 14.2 1.8 8Z", class: "f" })],
  held: () => [svg("rect", { x: 2.5, y: 2.5, width: 11, height: 11, rx: 1.5, class: "f" }), svg("path", { d: "M6.2 5.5v5M9.8 5.5v5", class: "k" })],
  error: () => [svg("path", { d: "M8 1.5 15 14H1Z", class: "f" }), svg("path", { d: "M8 6v4M8 11.6v.9", class: "k" })],
  unknown: () => [svg("circle", { cx: 8, cy: 8, r: 5.6, class: "s d" }), svg("path", { d: "M5.5 8h5", class: "s" })],
};

/** mark draws a state. Its word stands beside it, so it is not read out. */
export function mark(state) {
  return svg("svg", { viewBox: "0 0 16 16", class: "mark " + state, "aria-hidden": "true" }, ...(shapes[state] || shapes.unknown)());
}
