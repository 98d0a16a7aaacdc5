package local

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestWaitRule compares the table in the comment with the function for every
// combination. Every row decides one.
func TestWaitRule(t *testing.T) {
	rows := doctable.Of(t, "explain.go", "waitRule").Rows
	used := make([]bool, len(rows))
	for bits := range 1 << 8 {
		b := func(i int) bool { return bits&(1<<i) != 0 }
		w := waiting{guard: b(0), intent: b(1), held: b(2), reached: b(3), fenced: b(4), trouble: b(5), booting: b(6), claim: b(7)}
		i := slices.IndexFunc(rows, func(r []string) bool {
			for c := range 8 {
				if r[c] != "*" && (r[c] == "yes") != b(c) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			t.Fatalf("no row fits %+v", w)
		}
		used[i] = true
		if got := waitRule(w); string(got) != rows[i][8] {
			t.Errorf("%+v: %s, the table says %s", w, got, rows[i][8])
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		t.Errorf("row %v decides nothing", rows[i])
	}
}

func TestExplain(t *testing.T) {
	claimed := &message.ServerIntent{Owner: resource.Owner{UID: "u"}}
	off := resource.ServerReport{Observation: protocol.Observation{Power: protocol.PowerOff}}
	conds := func(codes ...resource.ConditionCode) (r resource.ServerReport) {
		r = off
		for _, c := range codes {
			r.Conditions = append(r.Conditions, resource.ConditionState{Code: c})
		}
		return r
	}
	trying := off
	trying.Attempt = &resource.AttemptReport{State: resource.AttemptArmed}
	tried := off
	tried.Attempt = &resource.AttemptReport{State: resource.AttemptSucceeded}
	for name, row := range map[string]struct {
		server Server
		want   Wait
	}{
		"nothing is known":   {Server{}, WaitDocument},
		"no claim":           {Server{Intent: &message.ServerIntent{}, Report: off}, WaitClaim},
		"it runs":            {Server{Intent: claimed, Report: tried}, WaitNothing},
		"it boots":           {Server{Intent: claimed, Report: trying}, WaitBoot},
		"it has trouble":     {Server{Intent: claimed, Report: conds(resource.CondBMCUnreachable)}, WaitConditions},
		"it is informed":     {Server{Intent: claimed, Report: conds(resource.CondHeld)}, WaitNothing},
		"held, never read":   {Server{Intent: claimed, Holds: []Hold{{}}}, WaitReach},
		"held, not proved":   {Server{Intent: claimed, Report: off, Holds: []Hold{{Receipt: &resource.Receipt{}}, {}}}, WaitProof},
		"held, proved":       {Server{Intent: claimed, Report: off, Holds: []Hold{{Receipt: &resource.Receipt{}}}}, WaitRelease},
		"released here":      {Server{Intent: claimed, Report: off, Holds: []Hold{{Word: resource.HoldReleased}}}, WaitNothing},
		"held, unreachable":  {Server{Intent: claimed, Holds: []Hold{{}}, Report: resource.ServerReport{Observation: protocol.Observation{Power: protocol.PowerUnreachable}}}, WaitReach},
		"an unknown trouble": {Server{Intent: claimed, Report: conds("OfALaterRelease")}, WaitConditions},
	} {
		got := explain(row.server)
		if got.WaitsFor != row.want || got.Text != row.want.String() || !strings.HasPrefix(got.Text, "it ") {
			t.Errorf("%s: %+v, want %s", name, got, row.want)
		}
	}
	for _, w := range waits {
		if strings.HasSuffix(w.String(), " "+string(w)) && w != WaitNothing && w != WaitClaim {
			t.Errorf("%s has no words", w)
		}
	}
}

// TestDescribe: the worst first, with what explains it.
func TestDescribe(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	got := Describe([]resource.ConditionState{
		{Code: resource.CondHeld, Since: at},
		{Code: resource.CondRestorePolicy, Since: at},
		{Code: resource.CondBMCUnreachable, Since: at.Add(time.Second)},
		{Code: resource.CondHoldMalformed, Since: at.Add(time.Minute)},
	})
	var codes []resource.ConditionCode
	for _, c := range got {
		codes = append(codes, c.Code)
		if c.Title == "" || c.Hint == "" {
			t.Errorf("%+v", c)
		}
		if explained := slices.Equal(c.ExplainedBy, []resource.ConditionCode{resource.CondBMCUnreachable}); explained != (c.Code == resource.CondRestorePolicy) {
			t.Errorf("%s is explained by %v", c.Code, c.ExplainedBy)
		}
	}
	severity := func(c resource.ConditionCode) int { k, _ := resource.LookupCondition(c); return rank(k.Severity) }
	if !slices.IsSortedFunc(codes, func(a, b resource.ConditionCode) int { return severity(a) - severity(b) }) {
		t.Errorf("%v", codes)
	}
}
