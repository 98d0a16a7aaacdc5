package boot

import (
	"net/netip"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestFixedNames: who asks by a fixed name is known by the address that it leases, and
// only while a network boot of its server is open.
func TestFixedNames(t *testing.T) {
	const mac = "02:00:00:00:00:01"
	at := netip.MustParseAddr("10.7.0.50")
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	end := now.Add(time.Hour)
	r := room(t, statetest.NewMemory(), func() time.Time { return now })
	b := &segment{room: r, leased: newLeased()}
	r.index.byMAC = map[string][]string{mac: {"one"}, "02:00:00:00:00:02": {"one", "two"}}
	attempt := &decide.Attempt{Token: "t", Order: decide.Order{Target: protocol.TargetPxe}, Stage: decide.Stage{State: resource.AttemptPowerRequested}}
	r.index.servers["one"] = indexed{attempt: attempt}
	known := func(want bool, when string) {
		t.Helper()
		if token, ok := b.tokenAt(at); ok != want || ok != (token == "t") {
			t.Errorf("%s: token %q, %t", when, token, ok)
		}
	}
	known(false, "no lease")
	b.leased.note(tenant4(netboot.Lease{Address: at, MAC: mac, Expires: end}))
	known(true, "leased")
	if token, ok := b.tokenAt(netip.MustParseAddr("::ffff:10.7.0.50")); !ok || token != "t" {
		t.Error("the address as a dual-stack socket shows it is another one")
	}
	attempt.Stage.State = resource.AttemptSucceeded
	known(false, "the boot has ended")
	attempt.Stage.State, attempt.Order.Target = resource.AttemptPowerRequested, protocol.TargetHdd
	known(false, "a boot from disk")
	attempt.Order.Target = protocol.TargetPxe
	b.leased.note(tenant4(netboot.Lease{Address: at, MAC: "02:00:00:00:00:02", Expires: end}))
	known(false, "an address that more than one server has")
	b.leased.note(tenant4(netboot.Lease{Address: at, MAC: mac, Expires: end}))
	known(true, "leased again")
	now = end
	known(false, "the lease has ended")
	now = end.Add(-time.Second)
	b.leased.note(tenant4(netboot.Lease{Address: at, MAC: mac, Expires: end, Declined: true}))
	known(false, "declined")
	if _, err := b.OpenFor(at, "boot.efi"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("opened for nobody: %v", err)
	}
}

// TestFixedNamesOver6: who leases an address of IPv6 is known by its MAC address, or by
// the UUID of its DUID, which firmware sends in either byte order.
func TestFixedNamesOver6(t *testing.T) {
	const mac, uuid = "02:00:00:00:00:01", "00112233-4455-6677-8899-aabbccddeeff"
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	at, other := netip.MustParseAddr("2001:db8::1000"), netip.MustParseAddr("2001:db8::1001")
	r := room(t, statetest.NewMemory(), func() time.Time { return now })
	b := &segment{room: r, leased: newLeased()}
	r.index.rebuild(store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: message.ServerIntent{
		Server: "one", BootMAC: mac, UUID: uuid, Architecture: "amd64",
	}}, {ServerIntent: message.ServerIntent{Server: "two", Architecture: "amd64"}}}})
	r.index.follow("one", decide.Record{Attempt: &decide.Attempt{Token: "t", Order: decide.Order{Target: protocol.TargetPxe}, Stage: decide.Stage{State: resource.AttemptPowerRequested}}})
	r.index.follow("two", decide.Record{Attempt: &decide.Attempt{Token: "u", Order: decide.Order{Target: protocol.TargetPxe}, Stage: decide.Stage{State: resource.AttemptPowerRequested}}})
	lease := func(a netip.Addr, client, mac string) tenant {
		return tenant6(netboot.Lease6{Address: a, Client: client, MAC: mac, Expires: now.Add(time.Hour)})
	}
	known := func(at netip.Addr, want bool, when string) {
		t.Helper()
		if token, ok := b.tokenAt(at); ok != want || ok && token != "t" {
			t.Errorf("%s: token %q, %t", when, token, ok)
		}
	}
	for when, l := range map[string]tenant{
		"by its MAC address":            lease(at, mac, mac),
		"by its UUID":                   lease(at, "uuid:"+uuid, ""),
		"by its UUID the other way":     lease(at, "uuid:33221100-5544-7766-8899-aabbccddeeff", ""),
		"by its UUID, the MAC is other": lease(at, "uuid:"+uuid, "02:00:00:00:00:09"),
	} {
		b.leased.note(l)
		known(at, true, when)
		known(other, false, when+": the next address")
		b.leased.end(lease(at, "02:00:00:00:00:03", ""))
		known(at, true, when+": another machine's RELEASE")
		b.leased.end(l)
		known(at, false, when+": released")
	}
	b.leased.note(lease(at, "uuid:00000000-0000-0000-0000-000000000001", ""))
	known(at, false, "a machine without a MAC address is not a server without one")
	b.leased.note(lease(at, mac, mac))
	b.leased.end(tenant6(netboot.Lease6{Address: at})) // moved: nobody has it any more
	known(at, false, "the address is nobody's")
	b.leased.note(tenant4(netboot.Lease{Address: netip.MustParseAddr("10.7.0.50"), MAC: mac, Expires: now.Add(time.Hour)}))
	b.leased.end(tenant4(netboot.Lease{Address: netip.MustParseAddr("10.7.0.50"), MAC: mac, Expires: now}))
	known(netip.MustParseAddr("10.7.0.50"), false, "DHCPRELEASE")
}

// TestService: what a Segment says of its addresses reaches the DHCP server.
func TestService(t *testing.T) {
	if got := serviceOf(nil); got.Mode != "" || got.Reservations != nil {
		t.Errorf("of a hub that knows none: %+v", got)
	}
	in := &resource.ServiceIntent{
		Mode: resource.ServiceReservations, Authoritative: true,
		Reservations: []resource.Reservation{{Address: "10.7.0.9", MAC: "02:00:00:00:00:01"}},
	}
	got := serviceOf(in)
	r, ok := got.Reservations.Of(protocol.BootClient{MAC: "02:00:00:00:00:01"})
	if got.Mode != in.Mode || !got.Authoritative || !ok || r.Address.String() != "10.7.0.9" {
		t.Errorf("%+v, %+v", got, r)
	}
	in.Reservations = append(in.Reservations, resource.Reservation{Address: "10.7.0.9", MAC: "02:00:00:00:00:02"})
	if got := serviceOf(in); got.Reservations != nil {
		t.Error("an address of two machines is given to one of them")
	}
}

// TestNotices: each kind is told, and none without its words.
func TestNotices(t *testing.T) {
	for _, kind := range []netboot.NoticeKind{netboot.NoticeForeignServer, netboot.NoticeBootLoop, netboot.NoticeConflict, netboot.NoticeDeclined, netboot.NoticeNoRouter, netboot.NoticeUnmanaged, netboot.NoticeSpoofed} {
		code, event, text := told(netboot.Notice{Kind: kind, Segment: "boot-a", Address: netip.MustParseAddr("10.7.0.2"), MAC: "02:00:00:00:00:01", Server: "one"})
		if _, ok := resource.LookupCondition(code); !ok || event == "" || text == "" {
			t.Errorf("%s: %s, %s, %q", kind, code, event, text)
		}
	}
	if _, event, _ := told(netboot.Notice{Kind: "other"}); event != "" {
		t.Error("a kind that nobody knows is told")
	}
}
