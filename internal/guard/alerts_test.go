package guard

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAlertsHaveRunbooks: each alert stands in bold on the page that says what to do, and has a test that it fires.
func TestAlertsHaveRunbooks(t *testing.T) {
	var alerts []string
	for _, group := range yamlFile[rules](t, "configs/prometheus/rules.yaml")[0].Groups {
		for _, r := range group.Rules {
			alerts = append(alerts, r.Alert)
		}
	}
	page, err := os.ReadFile("docs/reference/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("configs/prometheus/rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	report(t, alertProblems(alerts, string(page), string(tests)))
}

var boldAlert = regexp.MustCompile(`\*\*(Rackboot\w+)\*\*`)

func alertProblems(alerts []string, page, tests string) (problems []string) {
	for _, a := range alerts {
		if n := strings.Count(page, "**"+a+"**"); n != 1 {
			problems = append(problems, fmt.Sprintf("%s: docs/reference/alerts.md says %d times what to do, not once", a, n))
		}
		if !strings.Contains(tests, `{alertname="`+a+`"}`) {
			problems = append(problems, a+": no test of configs/prometheus/rules_test.yaml has it fire")
		}
	}
	for _, m := range boldAlert.FindAllStringSubmatch(page, -1) {
		if !slices.Contains(alerts, m[1]) {
			problems = append(problems, m[1]+": no rule has this alert")
		}
	}
	return problems
}

func TestAlertProblemsCanFail(t *testing.T) {
	for _, c := range []struct{ name, page, tests, want string }{
		{"good", "**RackbootA**: look", `{alertname="RackbootA"}`, ""},
		{"no runbook", "", `{alertname="RackbootA"}`, "says 0 times"},
		{"no test", "**RackbootA**: look", "", "has it fire"},
		{"gone", "**RackbootA** **RackbootB**", `{alertname="RackbootA"}`, "RackbootB: no rule"},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, alertProblems([]string{"RackbootA"}, c.page, c.tests), c.want) })
	}
}
