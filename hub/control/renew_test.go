package control

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"rackboot/hub/members"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// renewal is what an agent asks, signed with the key.
func renewal(t *testing.T, agent string, k ed25519.PrivateKey, m message.Renewal) api.RenewRequest {
	t.Helper()
	return api.RenewRequest{Agent: agent, Renewal: seal(t, k, wire.FactRenewal, m)}
}

// Whoever does not have both the certificate and the key of one agent gets nothing;
// the key alone does only after the certificate's end, and for a year.
func TestRenewRefuses(t *testing.T) {
	const csr = "csr"
	for _, c := range []struct {
		name  string
		after time.Duration // since the certificate was made
		by    string        // whose key signs
		cert  string        // whose certificate is shown
		end   func(b *bench)
		want  string
	}{
		{"by certificate and key", time.Hour, "r1-1", "r1-1", nil, "issued"},
		{"without the certificate", time.Hour, "r1-1", "", nil, "denied"},
		{"with another agent's certificate", time.Hour, "r1-1", "r2-1", nil, "denied"},
		{"with the hub's certificate", time.Hour, "r1-1", "rackboot.hub", nil, "denied"},
		{"signed with another key", time.Hour, "r2-1", "r1-1", nil, "denied"},
		{"after its end, by key", 90*24*time.Hour + time.Hour, "r1-1", "", nil, "issued"},
		{"after its end, with another key", 90*24*time.Hour + time.Hour, "r2-1", "", nil, "denied"},
		{"at the end of the grace", 90*24*time.Hour + decide.CertificateGrace - time.Second, "r1-1", "", nil, "issued"},
		{"made while the hub was ahead, by key", -400 * 24 * time.Hour, "r1-1", "", nil, "issued"},
		{"made while the hub was ahead, by the certificate before", -400 * 24 * time.Hour, "r1-1", "r1-1", nil, "issued"},
		{"made while the hub was ahead, with another key", -400 * 24 * time.Hour, "r2-1", "", nil, "denied"},
		{"the hub's clock was set back by a minute, by key", -time.Minute, "r1-1", "", nil, "denied"},
		{"after the grace", 90*24*time.Hour + decide.CertificateGrace, "r1-1", "", nil, "denied"},
		{"revoked", time.Hour, "r1-1", "r1-1", func(b *bench) { _, _ = b.control.Members.Revoke(ctx(b.t), "r1-1", endFor("x"), "ann") }, "ended"},
		{"revoked, after its end", 90*24*time.Hour + time.Hour, "r1-1", "", func(b *bench) { _, _ = b.control.Members.Revoke(ctx(b.t), "r1-1", endFor("x"), "ann") }, "ended"},
		{"revoked, another asks", time.Hour, "r2-1", "r2-1", func(b *bench) { _, _ = b.control.Members.Revoke(ctx(b.t), "r1-1", endFor("x"), "ann") }, "denied"},
		{"replaced", time.Hour, "r1-1", "r1-1", func(b *bench) { _, _ = b.control.Members.ReplaceAgent(ctx(b.t), "r1", endFor("x"), "ann") }, "ended"},
		{"deleted", time.Hour, "r1-1", "r1-1", func(b *bench) { _, _ = b.store.Delete(ctx(b.t), resource.KindAgent, "r1-1") }, "denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, &movingTag{})
			b.apply(storetest.Rack("r1"), storetest.Rack("r2"))
			b.join("r1")
			b.join("r2")
			b.now = b.now.Add(c.after)
			if c.end != nil {
				c.end(b)
				b.pass()
			}
			out, err := b.control.Members.Renew(ctx(t), renewal(t, "r1-1", key(c.by), message.Renewal{Agent: "r1-1", CSR: []byte(csr), At: b.now}), c.cert)
			switch c.want {
			case "issued":
				if err != nil || string(out.Certificate) != "certificate of r1-1" {
					t.Errorf("%+v, %v", out, err)
				}
			case "ended":
				if err != nil || len(out.Ended) == 0 || out.Certificate != nil || len(out.Standing.API) > 0 {
					t.Errorf("%+v, %v", out, err)
				}
			default:
				if protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" || out.Certificate != nil || out.Ended != nil {
					t.Errorf("%+v, %v", out, err)
				}
			}
		})
	}
}

// What one agent signed renews no other, and nobody learns which agents there are.
func TestRenewalIsOfOneAgent(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Rack("r1"), storetest.Rack("r2"))
	b.join("r1")
	b.join("r2")
	moved := renewal(t, "r2-1", key("r1-1"), message.Renewal{Agent: "r1-1", CSR: []byte("x")})
	_, a := b.control.Members.Renew(ctx(t), moved, "r1-1")
	_, n := b.control.Members.Renew(ctx(t), renewal(t, "r9-1", key("r9-1"), message.Renewal{Agent: "r9-1"}), "")
	lie := renewal(t, "r1-1", key("r1-1"), message.Renewal{Agent: "r2-1", CSR: []byte("x")})
	_, l := b.control.Members.Renew(ctx(t), lie, "r1-1")
	for _, err := range []error{a, n, l} {
		if protocol.CodeOf(err) != protocol.CodeDenied || err.Error() != a.Error() {
			t.Errorf("got %v", err)
		}
	}
}

// The record is on disk before the certificate is given away, and one agent does not
// get certificates without end.
func TestRenewKilled(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Rack("r1"))
	b.join("r1")
	b.now = b.now.Add(60 * 24 * time.Hour)
	q := renewal(t, "r1-1", key("r1-1"), message.Renewal{Agent: "r1-1", CSR: []byte("x"), Trust: "t", SealKey: make([]byte, 32)})
	b.dies("hub.renew.recorded", func() { _, _ = b.control.Members.Renew(ctx(t), q, "r1-1") })
	a := must(store.Get[*resource.Agent](b.store.Objects, "r1-1"))
	if raw, _, err := b.store.Meta.Get("cert-r1-1"); err != nil || !strings.Contains(string(raw), b.now.Add(90*24*time.Hour).Format(`"notAfter":"2006-01-02T15:04:05Z","trust":"t"`)) || len(a.Spec.SealKey) != 32 {
		t.Errorf("recorded %s, seal key %x", string(raw), a.Spec.SealKey)
	}
	if _, err := b.control.Members.Renew(ctx(t), q, "r1-1"); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("at once again: %v", err)
	}
	b.now = b.now.Add(90 * 24 * time.Hour / 10_000)
	if _, err := b.control.Members.Renew(ctx(t), q, "r1-1"); err != nil {
		t.Errorf("a while later: %v", err)
	}
}

// Lagging names the agents that do not trust what the hub tells by now.
func TestLagging(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Rack("r1"), storetest.Rack("r2"))
	b.join("r1")
	b.join("r2")
	if _, err := b.control.Members.Renew(ctx(t), renewal(t, "r2-1", key("r2-1"), message.Renewal{Agent: "r2-1", Trust: "new"}), "r2-1"); err != nil {
		t.Fatal(err)
	}
	if got, err := members.Lagging(b.store, "new"); err != nil || len(got) != 1 || got[0] != "r1-1" {
		t.Errorf("%v, %v", got, err)
	}
}
