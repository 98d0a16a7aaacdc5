package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// readB1 has the agent read b1 and b2, and says which questions came.
func (m *modern) asked(bmc string) (out []message.Ask) {
	for _, q := range m.takeAsks() {
		if q.BMC.Name == bmc {
			out = append(out, q)
		}
	}
	return out
}

// What was not answered is sent again under its id, and given up after three minutes;
// then it is asked anew after 30 s, 1 min and so on.
func TestAskUntilAnswered(t *testing.T) {
	b, m := modernSite(t)
	began := b.now
	ids := map[string][]time.Duration{}
	var order []string
	for b.now.Sub(began) < 15*time.Minute {
		m.tick()
		for _, q := range m.asked("b1") {
			if ids[q.ID] == nil {
				order = append(order, q.ID)
			}
			ids[q.ID] = append(ids[q.ID], b.now.Sub(began))
		}
	}
	// 180 s each and pauses of 30, 60, 120 s between.
	want := []time.Duration{1 * time.Second, 212 * time.Second, 453 * time.Second, 754 * time.Second}
	if len(order) != len(want) {
		t.Fatalf("asked %d times: %v", len(order), ids)
	}
	for i, id := range order {
		if at := ids[id][0]; at < want[i]-5*time.Second || at > want[i]+5*time.Second {
			t.Errorf("question %d came after %s, want %s", i, at, want[i])
		}
		if i < 3 && len(ids[id]) != 5 {
			t.Errorf("question %d was sent at %v", i, ids[id])
		}
	}
	b.pass()
	if got := b.bmc("b1"); codes(got.Status.Conditions) != "BMCInventory" || !strings.Contains(got.Status.Conditions[0].Message, "did not answer") {
		t.Errorf("b1 says %+v", got.Status.Conditions)
	}
}

// An answer counts if it is of the agent that was asked, of its present session, and
// awaited; a failure is said with what to do, and ends with the next success.
func TestAnswers(t *testing.T) {
	b, m := modernSite(t)
	b.apply(storetest.Rack("r2"))
	other := b.modern(b.join("r2"))
	other.connects()
	m.tick()
	q := m.asked("b1")[0]
	body, err := json.Marshal([]protocol.Inventory{{SystemURI: "/redfish/v1/Systems/1"}})
	if err != nil {
		t.Fatal(err)
	}
	kept := func() bool { return b.store.Inventories.Peek("b1", b.bmc("b1").Metadata.UID) != nil }
	for name, say := range map[string]func(){
		"another agent":   func() { other.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: other.nonce, Body: body}) },
		"another session": func() { m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: "x", Body: body}) },
		"without a nonce": func() { m.says(message.LeafAnswer, message.Answer{ID: q.ID, Body: body}) },
		"another id":      func() { m.says(message.LeafAnswer, message.Answer{ID: "x", Nonce: m.nonce, Body: body}) },
	} {
		if say(); kept() {
			t.Fatalf("%s: taken", name)
		}
	}
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Code: protocol.CodeInternal, Message: "BMC talks nonsense", Hint: "restart it"})
	b.pass()
	if got := b.bmc("b1"); kept() || codes(got.Status.Conditions) != "BMCInventory" || !strings.Contains(got.Status.Conditions[0].Message, "BMC talks nonsense (restart it)") {
		t.Errorf("b1 says %+v", got.Status.Conditions)
	}
	b.now = b.now.Add(29 * time.Second)
	m.tick()
	q = m.asked("b1")[0]
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: body})
	b.pass()
	if got := b.bmc("b1"); !kept() || len(got.Status.Conditions) != 0 {
		t.Errorf("b1 says %+v", got.Status.Conditions)
	}
	m.tick()
	if again := m.asked("b1"); len(again) != 0 {
		t.Errorf("asked again: %+v", again)
	}
	// Its server shows another board: it is read again.
	for _, identity := range []string{"", "one", "one"} {
		r := off("n1")
		r.Identity = identity
		m.reports(r)
		b.pass()
		m.tick()
		if again := m.asked("b1"); len(again) != 0 {
			t.Errorf("asked again at identity %q: %+v", identity, again)
		}
	}
	r := off("n1")
	r.Identity = "two"
	m.reports(r)
	b.pass()
	m.tick()
	if again := m.asked("b1"); len(again) != 1 {
		t.Errorf("asked %d times after the identity changed", len(again))
	}
}

// A BMC carries what keeps the agent from speaking with it: what the reading of it fails by, before there
// is a report; what its server says; and nothing once one of them works.
func TestBMCCarriesItsAccount(t *testing.T) {
	b, m := modernSite(t)
	shows := func(when, want, message string) {
		t.Helper()
		b.pass()
		got := b.bmc("b1").Status.Conditions
		if codes(got) != want || want != "" && !strings.Contains(got[0].Message, message) {
			t.Errorf("%s: %+v", when, got)
		}
	}
	fails := func(code protocol.Code, what resource.ConditionCode) {
		t.Helper()
		m.tick()
		m.says(message.LeafAnswer, message.Answer{ID: m.asked("b1")[0].ID, Nonce: m.nonce, Code: code, Message: "no password", Hint: "correct it", Condition: what})
	}
	fails(protocol.CodeNotFound, resource.CondBMCCredentials)
	shows("no file", "BMCCredentialsMissing", "no password (correct it)")
	since := b.bmc("b1").Status.Conditions[0].Since

	refused := resource.ServerReport{Server: "n1", Observation: protocol.Observation{Power: protocol.PowerUnreachable}, Conditions: []resource.ConditionState{{Code: resource.CondBMCDenied, Message: "401"}}}
	b.now = b.now.Add(time.Minute)
	m.reports(refused)
	shows("the server knows better", "BMCDenied", "server n1: 401")
	if n := testutil.CollectAndCount(b.control.Shown.exporter, "rackboot_bmc_conditions"); n != 1 {
		t.Errorf("%d conditions are counted", n)
	}
	m.reports(off("n1"))
	shows("the server is read", "BMCInventory", "no password (correct it)")

	// The next reading fails by that again, and the server is not read.
	fails(protocol.CodeDenied, resource.CondBMCDenied)
	quiet := refused
	quiet.Conditions = nil
	m.reports(quiet)
	shows("refused", "BMCDenied", "no password")
	if again := b.bmc("b1").Status.Conditions[0].Since; !again.After(since) {
		t.Errorf("it is so since %s", again)
	}
	b.now = b.now.Add(2 * time.Minute)
	m.tick()
	m.answers(m.asked("b1")[0], protocol.Inventory{SystemURI: "/redfish/v1/Systems/1"})
	shows("read", "", "")
}

// An agent that answers no questions gets none, and its BMCs say so.
func TestAgentTooOldToAsk(t *testing.T) {
	b, m := modernSite(t)
	m.caps = slices.DeleteFunc(message.Capabilities(), func(c message.Capability) bool { return c == message.CapAsk })
	m.connects()
	b.pass()
	m.takeAsks()
	for range 5 {
		m.tick()
	}
	if q := m.takeAsks(); len(q) != 0 {
		t.Errorf("asked %+v", q)
	}
	if got := b.bmc("b1"); codes(got.Status.Conditions) != "AgentTooOld" {
		t.Errorf("b1 says %q", codes(got.Status.Conditions))
	}
	if _, err := b.control.Inventory.Probe(ctx(t), "b1", ""); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("probe: %v", err)
	}
	// Nor is it told of a segment of BMCs: it would take it for one of hosts.
	seg := storetest.Segment("bmcs", "r1")
	seg.Spec.Role, seg.Spec.BaseURL = resource.SegmentBMC, ""
	b.apply(seg)
	b.pass()
	m.listens()
	if segs := b.rack(m).Rack.Segments; len(segs) != 1 || segs[0].Name != "boot" {
		t.Errorf("it was told of %+v", segs)
	}
}

func TestFencedHubAsksNothing(t *testing.T) {
	b, m := modernSite(t)
	b.control.fence.Yields(b.t.Context(), "r9-1", message.Fence{Number: 1 << 10, Hub: "another"})
	for range 20 {
		m.tick()
	}
	if q := m.takeAsks(); len(q) != 0 {
		t.Errorf("asked %+v", q)
	}
	if _, err := b.control.Inventory.Probe(ctx(t), "b1", ""); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("probe: %v", err)
	}
}

// probes starts a probe and returns the question that went out.
func (m *modern) probes(ctx context.Context, name string) (message.Ask, <-chan []protocol.Probe, <-chan error) {
	m.b.t.Helper()
	got, failed := make(chan []protocol.Probe, 1), make(chan error, 1)
	go func() {
		p, err := m.b.control.Inventory.Probe(ctx, name, "/redfish/v1/Systems/1")
		if err != nil {
			failed <- err
			return
		}
		got <- p
	}()
	synctest.Wait()
	m.listens()
	q := m.takeAsks()
	if len(q) != 1 || q[0].Kind != message.AskProbe || q[0].SystemURI != "/redfish/v1/Systems/1" {
		m.b.t.Fatalf("asked %+v", q)
	}
	return q[0], got, failed
}

func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := modernSite(t)
		q, got, _ := m.probes(t.Context(), "b1")
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: []byte(`[{"version":1,"profile":"supermicro"}]`)})
		if p := <-got; len(p) != 1 || p[0].Profile != "supermicro" {
			t.Errorf("got %+v", p)
		}

		q, _, failed := m.probes(t.Context(), "b1")
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Code: protocol.CodeDenied, Message: "refused", Hint: "correct the file"})
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) != "correct the file" {
			t.Errorf("the agent's error came as %v", err)
		}

		_, _, failed = m.probes(t.Context(), "b1")
		b.now = b.now.Add(3 * time.Minute)
		b.control.tick()
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("without an answer: %v", err)
		}
		m.listens()
		m.takeAsks()

		gone, cancel := context.WithCancel(t.Context())
		_, _, failed = m.probes(gone, "b1")
		open := b.control.Link.OpenAsks()
		cancel()
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeTimeout || b.control.Link.OpenAsks() != open-1 {
			t.Errorf("after the caller went: %v, %d open, were %d", err, b.control.Link.OpenAsks(), open)
		}
		if _, err := b.control.Inventory.Probe(t.Context(), "none", ""); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("no such BMC: %v", err)
		}
	})
}
