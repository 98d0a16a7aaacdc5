package guard

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// dashboard is what Grafana needs of one, as far as it is judged.
type dashboard struct {
	Title         string
	UID           string
	SchemaVersion int
	Panels        []struct {
		ID         int
		Type       string
		Title      string
		Datasource struct{ Type, UID string }
		GridPos    struct{ X, Y, W, H int }
		Targets    []struct{ RefID, Expr, LegendFormat string }
	}
}

// checkDashboard judges a Grafana dashboard: its panels stand apart, read Prometheus from
// the source that people choose, and name metrics and codes that exist.
func checkDashboard(t *testing.T, p string) {
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 || len(d.Panels) == 0 {
		t.Errorf("%s: no title, uid, schemaVersion or panel", p)
	}
	var code strings.Builder
	for _, s := range sources(t, func(p string) bool { return !isTest(p) }) {
		code.Write(s.text)
	}
	ids, at := map[int]bool{}, map[[2]int]bool{}
	for _, panel := range d.Panels {
		if ids[panel.ID] || at[[2]int{panel.GridPos.X, panel.GridPos.Y}] || panel.GridPos.W == 0 || panel.GridPos.H == 0 {
			t.Errorf("%q: its id or place is another's, or it has no size", panel.Title)
		}
		ids[panel.ID], at[[2]int{panel.GridPos.X, panel.GridPos.Y}] = true, true
		if panel.Title == "" || panel.Type == "" || panel.Datasource.UID != "${datasource}" || len(panel.Targets) == 0 {
			t.Errorf("%q: no title, type, chosen source or query", panel.Title)
		}
		for _, q := range panel.Targets {
			if len(metricsIn(q.Expr)) == 0 || q.RefID == "" {
				t.Errorf("%q: a query has no metric or refId: %s", panel.Title, q.Expr)
			}
			for _, m := range metricsIn(q.Expr) {
				if !madeIn(code.String(), strings.TrimSuffix(m, "_bucket")) {
					t.Errorf("%q: no code makes %s", panel.Title, m)
				}
			}
			checkOutcomes(t, panel.Title, q.Expr)
		}
	}
}

// checkOutcomes wants the outcomes of power-ons that an expression names to be ones.
func checkOutcomes(t *testing.T, who, expr string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`outcome[!=~]+"([\w|]+)"`).FindAllStringSubmatch(expr, -1) {
		for code := range strings.SplitSeq(m[1], "|") {
			if _, ok := resource.LookupAttempt(resource.AttemptCode(code)); !ok && code != "Succeeded" {
				t.Errorf("%s: no power-on ends with %s", who, code)
			}
		}
	}
}

// Failing boots and methods that were not ordered have an alert and a panel.
func TestBootsAreWatched(t *testing.T) {
	for _, p := range []string{"configs/prometheus/rules.yaml", "configs/grafana/boots.json"} {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range []string{"rackboot_agent_attempts_total{outcome!~", "rackboot_agent_method_mismatches_total["} {
			if !strings.Contains(string(raw), metric) {
				t.Errorf("%s does not watch %s", p, metric)
			}
		}
	}
}
