package control

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// traces asks for a trace and returns the question that went out.
func (m *modern) traces(ctx context.Context, serial int) (message.Ask, <-chan resource.Trace, <-chan error) {
	m.b.t.Helper()
	got, failed := make(chan resource.Trace, 1), make(chan error, 1)
	go func() {
		t, err := m.b.control.Outbound.Trace.Trace(ctx, "n1", serial)
		if err != nil {
			failed <- err
			return
		}
		got <- t
	}()
	synctest.Wait()
	m.listens()
	q := m.takeAsks()
	if len(q) != 1 || q[0].Kind != message.AskTrace || q[0].Server != "n1" || q[0].Serial != serial || q[0].BMC.Address != "" {
		m.b.t.Fatalf("asked %+v", q)
	}
	return q[0], got, failed
}

// The agent of the server's rack is asked, its answer and its error come through, and
// nobody waits for longer than a request may take.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := modernSite(t)
		q, got, _ := m.traces(t.Context(), 3)
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: []byte(`{"server":"n1","serial":3,"rows":[{"seq":1,"source":"dhcp","what":"DISCOVER"}]}`)})
		if tr := <-got; tr.Serial != 3 || len(tr.Rows) != 1 || tr.Rows[0].Source != protocol.TraceDHCP {
			t.Errorf("got %+v", tr)
		}
		q, _, failed := m.traces(t.Context(), 0)
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Code: protocol.CodeNotFound, Message: "not powered on", Hint: "describe it"})
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) != "describe it" {
			t.Errorf("the agent's error came as %v", err)
		}
		q, _, failed = m.traces(t.Context(), 0)
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: []byte(`{"server":"n2"}`)})
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeInternal {
			t.Errorf("of another server: %v", err)
		}
		_, _, failed = m.traces(t.Context(), 0)
		b.now = b.now.Add(api.TraceWait + time.Second)
		b.control.tick()
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("without an answer: %v", err)
		}
		m.listens()
		m.takeAsks()
		gone, cancel := context.WithCancel(t.Context())
		_, _, failed = m.traces(gone, 0)
		open := b.control.Link.OpenAsks()
		cancel()
		if err := <-failed; protocol.CodeOf(err) != protocol.CodeTimeout || b.control.Link.OpenAsks() != open-1 {
			t.Errorf("after the caller went: %v, %d open, were %d", err, b.control.Link.OpenAsks(), open)
		}
		if _, err := b.control.Outbound.Trace.Trace(t.Context(), "none", 0); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("no such server: %v", err)
		}
	})
}

// Who cannot be asked is said, with what to do in its place.
func TestTraceOfWhomNobodyHears(t *testing.T) {
	b, m := modernSite(t)
	m.caps = slices.DeleteFunc(message.Capabilities(), func(c message.Capability) bool { return c == message.CapAsk })
	m.connects()
	b.pass()
	if _, err := b.control.Outbound.Trace.Trace(ctx(t), "n1", 0); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("of an old agent: %v", err)
	}
	b.control.fence.Yields(b.t.Context(), "r9-1", message.Fence{Number: 1 << 10, Hub: "another"})
	if _, err := b.control.Outbound.Trace.Trace(ctx(t), "n1", 0); err == nil || protocol.HintOf(err) == "" {
		t.Errorf("of a hub that stepped down: %v", err)
	}
}
