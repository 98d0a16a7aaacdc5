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
)

const (
	claimedMAC   = "52:54:00:00:00:01"
	claimedUUID  = "4c4c4544-0051-3010-8052-b4c04f333333"
	neighborUUID = "11111111-2222-3333-4444-555555555555"
)

// TestIndexOfClaimants: a neighbour with the server's MAC address gets nothing before the BMC
// has started the server, is refused where it does not fit what the BMC shows, and its asking
// is no evidence. The server itself is served, whoever asked before it.
func TestIndexOfClaimants(t *testing.T) {
	now := time.Unix(100, 0)
	x := NewIndex()
	x.clock = func() time.Time { return now }
	var told []decide.Event
	x.claimed = func(_ string, e decide.Event) { told = append(told, e) }
	x.rebuild(store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: message.ServerIntent{Server: "n1", BootMAC: claimedMAC, Architecture: "amd64"}}}})
	armed := &decide.Attempt{Token: "t", Order: decide.Order{File: "boot.efi", Target: protocol.TargetUefiHTTP}, Stage: decide.Stage{State: resource.AttemptPowerRequested, PowerOn: decide.PowerOn{Sent: now}}}
	record := decide.Record{Attempt: armed, Identity: &decide.Known{Trusted: decide.Identity{UUID: claimedUUID}}, Pace: decide.Pace{Asks: 20 * time.Second}}
	x.follow("n1", record)
	asks := func(uuid string) protocol.BootClient {
		return protocol.BootClient{MAC: claimedMAC, UUID: uuid, Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	}
	expect := func(when string, c protocol.BootClient, action protocol.AnswerAction, news decide.Claimed, evidence bool) {
		t.Helper()
		told = nil
		_, is := x.asks(c)
		a := x.Resolve(c)
		if a.Action != action || is != evidence || (a.Token != "") != (action == protocol.AnswerBoot) {
			t.Errorf("%s: %+v, token %q, evidence %v", when, a, a.Token, is)
		}
		if len(told) > 1 || len(told) == 1 && (told[0].Claimed != news || told[0].Token != "t") || len(told) == 0 && news != "" {
			t.Errorf("%s: told %+v, want %q", when, told, news)
		}
	}
	expect("the On is not answered yet", asks(claimedUUID), protocol.AnswerSilence, "", false)
	armed.Stage.PowerOn.Taken = now
	x.follow("n1", record)
	now = now.Add(9 * time.Second)
	expect("sooner than its firmware ever came", asks(claimedUUID), protocol.AnswerSilence, "", false)
	now = now.Add(2 * time.Second)
	expect("a neighbour with another UUID", asks(neighborUUID), protocol.AnswerRefuse, decide.ClaimedForeign, false)
	expect("again", asks(neighborUUID), protocol.AnswerRefuse, "", false)
	expect("the server", asks(protocol.SwapUUID(claimedUUID)), protocol.AnswerBoot, decide.ClaimedFirst, true)
	expect("again", asks(claimedUUID), protocol.AnswerBoot, "", true)
	if a := x.disputed("n1", armed); a.Claimants.Pin == nil || a.Claimants.Foreign == nil || a.Claimants.Second != nil {
		t.Errorf("claimants %+v", a.Claimants)
	}
	expect("firmware that sends no UUID any more", asks(""), protocol.AnswerBoot, decide.ClaimedSecond, true)
	if a := x.disputed("n1", armed); a.Claimants.Second == nil || armed.Claimants.Second != nil {
		t.Error("a second one is not known before it is on disk, or was written into what is shared")
	}
	disk := decide.Attempt{Token: "t1", Order: decide.Order{Target: protocol.TargetHdd}, Stage: armed.Stage}
	x.follow("n1", decide.Record{Attempt: &disk, Identity: record.Identity})
	if _, is := x.asks(asks(neighborUUID)); is {
		t.Error("a neighbour asks while the server boots its disk, which is taken for its firmware's other method")
	}
	if _, is := x.asks(asks(claimedUUID)); !is {
		t.Error("what the server's own firmware asks is not heard")
	}
	next := *armed
	next.Token, next.Claimants = "t2", decide.Claimants{}
	x.follow("n1", decide.Record{Attempt: &next, Identity: record.Identity})
	if a := x.disputed("n1", &next); a.Claimants != (decide.Claimants{}) {
		t.Errorf("the next attempt begins with %+v", a.Claimants)
	}
}

// TestForgedRelease: a RELEASE or DECLINE that a neighbour sends for a server whose boot is under
// way takes its address from nobody; after the boot it ends the lease as any other.
func TestForgedRelease(t *testing.T) {
	now := time.Unix(100, 0)
	r := &Room{index: NewIndex()}
	r.index.rebuild(store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: message.ServerIntent{Server: "n1", BootMAC: claimedMAC}}}})
	l := newLeased()
	lease := netboot.Lease{Address: netip.MustParseAddr("10.7.0.9"), MAC: claimedMAC, Expires: now.Add(time.Hour)}
	l.note(tenant4(lease))
	boot := &decide.Attempt{Token: "t", Order: decide.Order{Target: protocol.TargetUefiHTTP}, Stage: decide.Stage{State: resource.AttemptFetched}}
	r.index.follow("n1", decide.Record{Attempt: boot})
	forged := lease
	forged.Expires = now
	r.ended(l, tenant4(forged))
	forged.Declined = true
	r.ended(l, tenant4(forged))
	if c, ok := l.of(lease.Address, now); !ok || c.MAC != claimedMAC {
		t.Errorf("the server has lost its address: %+v, %v", c, ok)
	}
	over := *boot
	over.Stage.State = resource.AttemptSucceeded
	r.index.follow("n1", decide.Record{Attempt: &over})
	r.ended(l, tenant4(lease))
	if _, ok := l.of(lease.Address, now); ok {
		t.Error("after the boot a RELEASE ends nothing")
	}
}
