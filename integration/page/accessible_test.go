package page

import (
	"os"
	"path/filepath"
	"testing"
)

// wrongs lists what WCAG asks that axe does not judge, or says that somebody is to look at: each shape has contrast (1.4.11)
// and each text, whatever lies behind (1.4.3); fields have names of their own (4.1.2); ids are once, and there are
// landmarks and one first heading (1.3.1).
const wrongs = `(() => {
  const out = [];
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const lum = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; } return rgb("white"); };
  const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const seen = (e) => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  const modal = document.querySelector("dialog[open]") || document.body;
  for (const e of modal.querySelectorAll("*")) {
    if (!seen(e) || e.closest("[disabled]")) continue;
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (own && !e.closest("svg") && e.tagName !== "OPTION") { const r = ratio(rgb(getComputedStyle(e).color), ground(e)); if (r < 4.5) out.push("contrast " + r.toFixed(2) + ": " + e.tagName + "." + e.className + " " + e.textContent.slice(0, 30)); }
    if (e.matches("svg.mark")) { const r = ratio(rgb(getComputedStyle(e).color), ground(e.parentElement)); if (r < 3) out.push("contrast of a shape " + r.toFixed(2) + ": " + e.getAttribute("class")); }
    if (e.matches("button, a[href], input, select, summary, progress")) {
      const name = e.getAttribute("aria-label") || (e.labels && [...e.labels].map((l) => l.textContent).join("")) || (e.matches("input, select") ? "" : e.textContent);
      if (!name.trim()) out.push("no name: " + e.outerHTML.slice(0, 80));
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids.filter((x, i) => ids.indexOf(x) !== i)) out.push("id twice: " + id);
  for (const l of document.querySelector(".login") ? ["main", "header"] : ["main", "header", "nav"]) if (!document.querySelector(l)) out.push("no landmark " + l);
  if (document.querySelectorAll("h1").length !== 1) out.push(document.querySelectorAll("h1").length + " first headings");
  if (!document.documentElement.lang || !document.title) out.push("no language or title");
  return [...new Set(out)];
})()`

// axeRun judges what is shown by the rules of WCAG 2.0 to 2.2, levels A and AA.
const axeRun = `window.axeSaid = null;
axe.run(document, {runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}, resultTypes: ["violations"]}).then(
	(r) => { window.axeSaid = r.violations.flatMap((v) => v.nodes.map((n) => v.id + " (" + v.tags.filter((t) => /^wcag\d\d\d/.test(t)) + "): " + n.html.slice(0, 120) + " " + n.failureSummary.slice(0, 200))); if (!r.passes.length) window.axeSaid.push("axe judged nothing"); },
	(e) => { window.axeSaid = ["axe failed: " + e]; }); true`

// axe is the script that integration/packages has fetched; empty where it is not there, and not required.
func axe(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "rackboot", "integration", "axe-*.js"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		if requires("axe") {
			t.Fatal("axe-core is not there; run integration/packages as root")
		}
		return ""
	}
	raw, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// accessible checks what is shown now, also by axe where it is there.
func (p *person) accessible() {
	p.t.Helper()
	for _, w := range ask[[]string](p, wrongs) {
		p.t.Errorf("not accessible: %s", w)
	}
	if p.axe == "" {
		return
	}
	if !ask[bool](p, `typeof axe === "object"`) {
		ask[bool](p, p.axe+";true")
	}
	ask[bool](p, axeRun)
	p.until("window.axeSaid", patience)
	for _, w := range ask[[]string](p, "window.axeSaid") {
		p.t.Errorf("axe at %s: %s", ask[string](p, "location.hash"), w)
	}
}
