package rack

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// word seals the end of a term.
func (b *bench) word(signer *wire.Signer, m message.EndOfTerm) []byte {
	b.t.Helper()
	data, err := wire.Seal(signer, wire.FactEndOfTerm, m)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// sayEnded sends the Sync that tells an agent that its term is over.
func (b *bench) sayEnded(a *agent.Agent, word []byte) {
	b.t.Helper()
	b.deliver(a, message.LeafSync, message.Sync{Refused: resource.CondSuperseded, Ended: word})
}

// TestEndOfTerm: an agent whose term is over answers no boot, powers nothing on and
// nothing off: another one may own the servers. It stays so after a restart, and
// whatever a hub that has forgotten it says.
func TestEndOfTerm(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	a, stop := b.start(nil)
	b.claim(1)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	b.until("the installed server", 1, diskBoot)

	own := message.EndOfTerm{Agent: agentID, Term: 1, Code: resource.CondSuperseded, At: time.Now()}
	other, older, unknown := own, own, own
	other.Agent, older.Term, unknown.Code = "rack-b-1", 0, resource.CondDark
	for name, raw := range map[string][]byte{
		"of another hub":      b.word(wire.NewSigner(b.key), own),
		"about another agent": b.word(b.hub, other),
		"of an older term":    b.word(b.hub, older),
		"of an unknown kind":  b.word(b.hub, unknown),
		"no word":             {1, 2, 3},
	} {
		if err := a.End(raw); err == nil || a.Over() {
			t.Errorf("a word %s was taken: %v", name, err)
		}
	}
	b.sayEnded(a, b.word(b.hub, other)) // also where it comes with a refusal
	if a.Over() {
		t.Fatal("the word about another agent was taken")
	}

	b.sayEnded(a, b.word(b.hub, own))
	for restarted := range 2 {
		if !a.Over() {
			t.Fatalf("after %d restarts the term goes on", restarted)
		}
		b.conds("the end of the term", contains("Superseded"))
		calls := b.calls.observed.Load()
		before := len(b.servers[0].BMC.History())
		resets := len(b.resets(1))
		b.servers[0].BMC.ExternalOn() // held: the next agent forces it off
		if err := b.servers[1].BMC.PullPower(); err != nil {
			t.Fatal(err)
		}
		if err := b.servers[1].BMC.RestorePower(); err != nil {
			t.Fatal(err)
		}
		// A hub that has forgotten it sends what it would send to any agent.
		b.send(a)
		b.deliver(a, message.LeafSync, message.Sync{Session: "s", Heads: map[string]protocol.Head{}})
		if err := b.ask(1); !errors.Is(err, firmware.ErrNoOffer) {
			t.Errorf("DHCP answered: %v", err)
		}
		for _, h := range b.servers[0].BMC.History()[before:] {
			if h.What == bmcsim.RecordReset {
				t.Errorf("ordered %s", h.Detail)
			}
		}
		if b.servers[0].BMC.PowerState() != protocol.PowerOn || len(b.resets(1)) != resets {
			t.Errorf("the held server is %s, the other one got %v", b.servers[0].BMC.PowerState(), b.resets(1)[resets:])
		}
		if restarted > 0 && b.calls.observed.Load() != calls {
			t.Error("a BMC was read")
		}
		stop()
		a, stop = b.start(nil)
	}
	// The hold is on disk as it was.
	b.until("the hold", 0, func(resource.ServerReport) bool {
		m, _ := b.newest()
		return strings.Contains(holdsIn(m), "hold-1")
	})
}

func holdsIn(m message.Report) (ids string) {
	for _, s := range m.Servers {
		for _, h := range s.Holds {
			ids += h.ID + " "
		}
	}
	return ids
}

// TestEndOfTermServesNoFile: what was handed out before is not served any more.
func TestEndOfTermServesNoFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	if err := a.End(b.word(b.hub, message.EndOfTerm{Agent: agentID, Term: 1, Code: resource.CondRevoked})); err != nil {
		t.Fatal(err)
	}
	b.conds("the revocation", contains("Revoked"))
	resp, err := http.Get("http://" + b.http.String() + "/b/0123456789abcdef/boot.efi")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("HTTP answered %s", resp.Status)
	}
}

// TestNextKey: documents and grants count by the key that is trusted, and by no other.
func TestNextKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.send(a)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old, next := b.hub, wire.NewSigner(key)
	a.Trust(next.Public())
	b.version++
	doc := message.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: b.version}, Agent: agentID, Term: 1, IssuedAt: time.Now(),
		Holds: []resource.ActiveHold{{ID: "hold-1", HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}},
	}
	topic := message.TopicDown(agentID, message.LeafHold)
	for _, c := range []struct {
		by   *wire.Signer
		held bool
	}{{old, false}, {next, true}} {
		raw, err := wire.Seal(c.by, topic, doc)
		if err != nil {
			t.Fatal(err)
		}
		b.link.give(a, topic, raw)
		if c.held {
			b.until("the hold of the next key", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 1 })
		} else {
			b.conds("the refusal of the key before", contains("MessagesRefused"))
		}
	}
}
