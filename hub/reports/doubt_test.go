package reports

import (
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A receipt that an agent showed while its proofs were in doubt counts no more, and the next one does.
func TestDoubt(t *testing.T) {
	m, seq := New(), uint64(0)
	show := func(session, receipt string) {
		seq++
		r := resource.ServerReport{Server: "n1", Holds: []resource.HoldReport{{ID: "h", Receipt: []byte(receipt)}}}
		m.Put(message.Report{Agent: "a", Session: session, Seq: seq, Servers: []resource.ServerReport{r}}, all(), time.Unix(1, 0))
	}
	want := func(when string, receipt string, proves bool) {
		t.Helper()
		if got := m.Proves("a", "n1", "h", []byte(receipt)); got != proves {
			t.Errorf("%s: receipt %s proves: %t", when, receipt, got)
		}
	}
	show("s", "one")
	want("before", "one", true)
	m.Doubt("b", true)
	want("in doubt of another", "one", true)
	m.Doubt("a", true)
	want("in doubt", "one", false)
	want("in doubt, another", "two", false)
	show("next", "two")
	m.Doubt("a", true)
	m.Doubt("a", false)
	want("afterwards", "two", false)
	show("next", "two")
	want("afterwards, shown again", "two", false)
	show("next", "three")
	want("anew", "three", true)
	if len(m.doubts.void) != 0 {
		t.Errorf("%d servers are remembered", len(m.doubts.void))
	}
	// It began before the new session has told of the server.
	m.Doubt("a", true)
	m.Doubt("a", false)
	want("of the session before", "three", false)
	m.Drop("a", []string{"n1"})
	want("of an agent that has gone", "three", true)
}
