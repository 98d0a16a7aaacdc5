package control

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestReceiptOfAnotherRun: once the agent speaks in another run, what an earlier one has proved is in
// force no more, also of a server that it says nothing new of, and whatever it says of it.
func TestReceiptOfAnotherRun(t *testing.T) {
	b, m := modernSite(t)
	m.run = "run-1"
	id := b.place("o", "k", "n1")
	b.pass()
	m.listens()
	fenced := func(run string) resource.ServerReport {
		r := off("n1")
		r.Holds = []resource.HoldReport{{
			ID: id, Word: resource.HoldFenced, State: resource.StateFenced, EnforcedAt: b.now,
			Receipt: seal(t, key(m.name), wire.FactReceipt, resource.Receipt{HoldID: id, Server: "n1", Agent: m.name, Run: run, StoppedSince: b.now, ConfirmedAt: b.now}),
		}}
		return r
	}
	stands := func(when string, want resource.HoldState) {
		t.Helper()
		h, _ := b.hold(id)
		proved := want == resource.StateFenced
		if st := h.Status; st.State != want || (st.Word == resource.HoldFenced) != proved || (st.Receipt != nil) != proved || (len(st.SignedReceipt) > 0) != proved {
			t.Errorf("%s: state %s, word %s, receipt %+v: %s", when, st.State, st.Word, st.Receipt, st.Message)
		} else if !proved && !strings.Contains(st.Message, "of an earlier run of the agent") {
			t.Errorf("%s: message %q", when, st.Message)
		}
	}
	m.reportsShard(1, 2, fenced("run-1"))
	stands("proved", resource.StateFenced)
	m.run = "run-2"
	m.reportsShard(0, 2)
	stands("another shard came from another run", resource.StateEnforced)
	m.reportsShard(1, 2, fenced("run-1"))
	stands("it comes with the old one", resource.StateEnforced)
	m.reportsShard(1, 2, fenced("run-2"))
	stands("proved anew", resource.StateFenced)
}
