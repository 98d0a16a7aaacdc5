package reports

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"rackboot/hub/once"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestInventoryStays: not each report carries an inventory, and one that is another's
// is not shown.
func TestInventoryStays(t *testing.T) {
	whole := &protocol.HostInventory{MemoryBytes: 1}
	image := func(digest string, inv *protocol.HostInventory) *protocol.ImageReport {
		return &protocol.ImageReport{State: protocol.ProbeBooted, Digest: digest, Inventory: inv}
	}
	for _, row := range []struct {
		name      string
		last, now *protocol.ImageReport
		want      bool
	}{
		{"the first", nil, image("a", whole), true},
		{"the same, without", image("a", whole), image("a", nil), true},
		{"another, without", image("a", whole), image("b", nil), false},
		{"another", image("a", nil), image("b", whole), true},
		{"none any more", image("a", whole), nil, false},
		{"none ever", image("", nil), image("", nil), false},
		{"nothing before", nil, image("a", nil), false},
	} {
		m := New()
		for seq, i := range []*protocol.ImageReport{row.last, row.now} {
			m.Put(message.Report{Agent: "a", Session: "s", Seq: uint64(seq + 1), Servers: []resource.ServerReport{{Server: "n1", Image: i}}}, all(), time.Unix(1, 0))
		}
		s, _ := m.Server("n1")
		if got := s.Image != nil && s.Image.Inventory != nil; got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

// A report that could not be filed is followed by one that is taken over whole, of its shard.
func TestReportsAreTakenAgain(t *testing.T) {
	m, seq := New(), uint64(0)
	put := func(shard int) bool {
		seq++
		news, changed := m.Put(message.Report{Agent: "a", Session: "s", Seq: seq, Shard: shard, Servers: []resource.ServerReport{{Server: "n1"}}}, all(), time.Unix(1, 0))
		if changed != (seq == 1) {
			t.Errorf("report %d has news: %t", seq, changed)
		}
		return len(news) == 1
	}
	if !put(0) || put(0) || !put(1) {
		t.Error("the first of each shard is whole, and no other")
	}
	m.Again("a", 0)
	if put(1) || !put(0) || put(0) {
		t.Error("after a failure of shard 0 that one is whole, once")
	}
}

// What the reports of many servers say in the same words is in memory once, and nothing of it differs.
func TestReportsShareWhatTheySay(t *testing.T) {
	m := New()
	report := func(server string) resource.ServerReport {
		return resource.ServerReport{
			Server: server, Identity: strings.Clone("board"), Attempt: &resource.AttemptReport{Reason: strings.Clone("reason")},
			Safety: &protocol.Safety{Detection: protocol.Detection{Reason: strings.Clone("no log")}},
		}
	}
	m.Put(message.Report{Agent: "a", Session: "s", Seq: 1, Servers: []resource.ServerReport{report("n1"), report("n2")}}, all(), time.Unix(1, 0))
	one, _ := m.Server("n1")
	other, _ := m.Server("n2")
	if one.Safety != other.Safety || unsafe.StringData(one.Attempt.Reason) != unsafe.StringData(other.Attempt.Reason) || unsafe.StringData(one.Identity) != unsafe.StringData(other.Identity) {
		t.Error("they share nothing")
	}
	if one.Attempt == other.Attempt || !reflect.DeepEqual(*one, report("n1")) || !reflect.DeepEqual(*other, report("n2")) {
		t.Errorf("%+v and %+v", one, other)
	}
}

// What a report takes over from the one before is read by others meanwhile, and nothing is written there.
func TestWhatIsReadIsNotWritten(t *testing.T) {
	m := New()
	put := func(seq uint64, inventory *protocol.HostInventory) {
		image := &protocol.ImageReport{State: protocol.ProbeBooted, Digest: "a", Inventory: inventory}
		m.Put(message.Report{Agent: "a", Session: "s", Seq: seq, Servers: []resource.ServerReport{{Server: "n1", Image: image, PowerEpoch: seq}}}, all(), time.Unix(1, 0))
	}
	put(1, &protocol.HostInventory{Board: protocol.Board{Vendor: strings.Clone("model")}})
	first, _ := m.Server("n1")
	at := unsafe.StringData(first.Image.Inventory.Board.Vendor)
	other := resource.ServerReport{Identity: strings.Clone("model")}
	m.said = once.New()
	m.said.Texts(&other) // "model" is another text from now on
	put(2, nil)
	second, _ := m.Server("n1")
	if second == first || second.Image.Inventory != first.Image.Inventory || unsafe.StringData(first.Image.Inventory.Board.Vendor) != at {
		t.Error("what was reported before is written")
	}
}
