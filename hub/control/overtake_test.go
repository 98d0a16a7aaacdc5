package control

import (
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// The release of a hold does not overtake the wish that its server stays off: its claim
// goes, or wants it off.
func TestReleaseWaits(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(b *bench, id string)
		on   bool // whether the server may run afterwards
	}{
		{"the claim goes with its holds", func(b *bench, _ string) {
			if _, err := b.store.Claims.Delete(ctx(b.t), "c1", store.HoldRelease{By: "o", Reason: "the rack goes"}); err != nil {
				b.t.Fatal(err)
			}
		}, false},
		{"the claim wants it off, then the hold is released", func(b *bench, id string) {
			c := b.claim("c1")
			c.Spec.Power = resource.WantOff
			b.apply(c)
			b.release(id)
		}, false},
		{"the hold is released", func(b *bench, id string) { b.release(id) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, m := modernSite(t)
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			m.listens()
			id := b.place("o", "k", "n1")
			b.pass()
			m.listens()
			released := func(when string, want bool) {
				t.Helper()
				if _, err := b.control.holdDocs(ctx(t)); err != nil { // the fast pass alone
					t.Fatal(err)
				}
				d, err := b.control.Link.Ledgers.HoldDoc(m.name, m.ledger().Sent[message.LeafHold])
				if err != nil {
					t.Fatal(err)
				}
				if got := len(d.Releases) == 1; got != want || len(d.Holds)+len(d.Releases) != 1 {
					t.Fatalf("%s: %d holds, %d releases", when, len(d.Holds), len(d.Releases))
				}
			}
			row.end(b, id)
			released("before anything else travels", row.on)
			if row.on {
				return
			}
			m.deaf = true
			b.pass()
			released("the wish is on its way", false)
			m.deaf = false
			b.control.Link.SendAgain(m.name)
			b.control.Link.Resend()
			b.control.sleep()
			m.listens()
			if b.control.wake.Holds.Waiting() == 0 {
				t.Error("the acknowledgement made no hold document")
			}
			released("the wish is acknowledged", true)
			b.control.Link.SendTo(m.name, b.now)
			m.listens()
			b.pass()
			if _, there := b.hold(id); there {
				t.Error("the hold lies on")
			}
		})
	}
}

func (b *bench) release(id string) {
	b.t.Helper()
	if _, err := b.store.Holds.Release(ctx(b.t), id, "o", ""); err != nil {
		b.t.Fatal(err)
	}
}

// A hold does not overtake the mark of firmware work that was there before it, unless
// it says so.
func TestHoldWaitsForFirmwareMark(t *testing.T) {
	for _, row := range []struct {
		name  string
		force bool
	}{{"a hold", false}, {"a hold that does not heed firmware work", true}} {
		t.Run(row.name, func(t *testing.T) {
			b, m := modernSite(t)
			if _, err := b.control.Outbound.Firmware.Mark(ctx(t), "n1", api.FirmwareRequest{For: protocol.Duration(time.Hour), Reason: "BIOS"}, "o"); err != nil {
				t.Fatal(err)
			}
			h := storetest.Hold("o", "k", "n1")
			h.Spec.ForceDuringFirmware = row.force
			if _, err := b.store.Holds.Create(ctx(t), h); err != nil {
				t.Fatal(err)
			}
			travels := func(when string, want bool) {
				t.Helper()
				if _, err := b.control.holdDocs(ctx(t)); err != nil { // the fast pass alone
					t.Fatal(err)
				}
				d, err := b.control.Link.Ledgers.HoldDoc(m.name, m.ledger().Sent[message.LeafHold])
				if err != nil {
					t.Fatal(err)
				}
				if got := len(d.Holds) == 1; got != want {
					t.Fatalf("%s: the hold travels: %t", when, got)
				}
			}
			travels("before anything else", row.force)
			if row.force {
				return
			}
			b.pass()
			b.control.sleep()
			m.listens()
			if b.control.wake.Holds.Waiting() == 0 {
				t.Error("the acknowledgement made no hold document")
			}
			travels("the mark is acknowledged", true)
			if _, err := b.control.Outbound.Firmware.Mark(ctx(t), "n1", api.FirmwareRequest{For: protocol.Duration(2 * time.Hour), Reason: "BMC"}, "o"); err != nil {
				t.Fatal(err)
			}
			m.deaf = true
			b.pass()
			travels("what was sent stays, with another mark under way", true)
		})
	}
}
