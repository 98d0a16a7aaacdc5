package agent

import (
	"net/netip"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// TestFixedNames: who asks by a fixed name is known by the address that it leases, and
// only while a network boot of its server is open.
func TestFixedNames(t *testing.T) {
	const mac = "02:00:00:00:00:01"
	at := netip.MustParseAddr("10.7.0.50")
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	end := now.Add(time.Hour)
	a := &Agent{index: newIndex()}
	a.cfg.Clock = func() time.Time { return now }
	b := &boots{agent: a, leased: newLeased()}
	a.index.byMAC = map[string][]string{mac: {"one"}, "02:00:00:00:00:02": {"one", "two"}}
	attempt := &decide.Attempt{Token: "t", Intended: protocol.TargetPxe, State: protocol.AttemptPowerRequested}
	a.index.servers["one"] = indexed{attempt: attempt}
	known := func(want bool, when string) {
		t.Helper()
		if token, ok := b.tokenAt(at); ok != want || ok != (token == "t") {
			t.Errorf("%s: token %q, %t", when, token, ok)
		}
	}
	known(false, "no lease")
	b.leased.note(netboot.Lease{Address: at, MAC: mac, Expires: end})
	known(true, "leased")
	if token, ok := b.tokenAt(netip.MustParseAddr("::ffff:10.7.0.50")); !ok || token != "t" {
		t.Error("the address as a dual-stack socket shows it is another one")
	}
	attempt.State = protocol.AttemptSucceeded
	known(false, "the boot has ended")
	attempt.State, attempt.Intended = protocol.AttemptPowerRequested, protocol.TargetHdd
	known(false, "a boot from disk")
	attempt.Intended = protocol.TargetPxe
	b.leased.note(netboot.Lease{Address: at, MAC: "02:00:00:00:00:02", Expires: end})
	known(false, "an address that more than one server has")
	b.leased.note(netboot.Lease{Address: at, MAC: mac, Expires: end})
	known(true, "leased again")
	now = end
	known(false, "the lease has ended")
	now = end.Add(-time.Second)
	b.leased.note(netboot.Lease{Address: at, MAC: mac, Expires: end, Declined: true})
	known(false, "declined")
	if _, err := b.OpenFor(at, "boot.efi"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("opened for nobody: %v", err)
	}
}

// TestService: what a Segment says of its addresses reaches the DHCP server.
func TestService(t *testing.T) {
	if got := serviceOf(nil); got.Mode != "" || got.Reservations != nil {
		t.Errorf("of a hub that knows none: %+v", got)
	}
	in := &protocol.ServiceIntent{
		Mode: protocol.ServiceReservations, Authoritative: true,
		Reservations: []protocol.Reservation{{Address: "10.7.0.9", MAC: "02:00:00:00:00:01"}},
	}
	got := serviceOf(in)
	r, ok := got.Reservations.Of(protocol.BootClient{MAC: "02:00:00:00:00:01"})
	if got.Mode != in.Mode || !got.Authoritative || !ok || r.Address.String() != "10.7.0.9" {
		t.Errorf("%+v, %+v", got, r)
	}
	in.Reservations = append(in.Reservations, protocol.Reservation{Address: "10.7.0.9", MAC: "02:00:00:00:00:02"})
	if got := serviceOf(in); got.Reservations != nil {
		t.Error("an address of two machines is given to one of them")
	}
}

// TestNotices: each kind is told, and none without its words.
func TestNotices(t *testing.T) {
	for _, kind := range []netboot.NoticeKind{netboot.NoticeForeignServer, netboot.NoticeBootLoop, netboot.NoticeConflict, netboot.NoticeDeclined} {
		code, event, text := told(netboot.Notice{Kind: kind, Segment: "boot-a", Address: netip.MustParseAddr("10.7.0.2"), MAC: "02:00:00:00:00:01", Server: "one"})
		if _, ok := protocol.LookupCondition(code); !ok || event == "" || text == "" {
			t.Errorf("%s: %s, %s, %q", kind, code, event, text)
		}
	}
	if _, event, _ := told(netboot.Notice{Kind: "other"}); event != "" {
		t.Error("a kind that nobody knows is told")
	}
}
