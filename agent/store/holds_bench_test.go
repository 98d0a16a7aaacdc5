package store

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"rackboot/agent/guard"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
)

// BenchmarkHoldEnforced is a hold document with one hold more, and one with its release, in a rack of 50
// servers of which some are held, with a guard set and without one.
func BenchmarkHoldEnforced(b *testing.B) {
	for _, held := range []int{0, 49} {
		for _, guards := range []bool{false, true} {
			b.Run(fmt.Sprintf("held=%d/guardset=%t", held, guards), func(b *testing.B) { benchHold(b, held, guards) })
		}
	}
}

func benchHold(b *testing.B, held int, guards bool) {
	dir := b.TempDir()
	db, err := badger.Open(badger.Config{Dir: dir + "/state", MinFree: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	cfg := Config{DB: db, NewID: rand.Text}
	if guards {
		set := guard.Open(guard.Config{Agent: "r1-1", Dir: dir, Clock: time.Now})
		defer func() { _ = set.Close() }()
		if why := set.Volatile(); why != "" {
			b.Fatal(why)
		}
		cfg.Guard = set
	}
	st, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	rack := message.RackDoc{Head: protocol.Head{Version: 1}, Shards: 1, Rack: &message.RackIntent{Name: "r"}}
	for i := range 50 {
		rack.Servers = append(rack.Servers, message.ServerIntent{
			Server: nameOf(i), UID: "uid", Segment: "boot", BootMAC: fmt.Sprintf("52:54:00:00:00:%02x", i),
			BMC: message.BMCIntent{Name: nameOf(i), Address: "192.0.2.1", CredentialsRef: "local:bmc"},
		})
	}
	if _, _, err := st.Documents.ApplyRack(rack, "1", func(message.ServerIntent) (*Credentials, error) { return nil, nil }); err != nil {
		b.Fatal(err)
	}
	d := message.HoldDoc{IssuedAt: noon}
	for i := range held {
		d.Holds = append(d.Holds, resource.ActiveHold{ID: "lies-" + nameOf(i), HoldSpec: resource.HoldSpec{Server: nameOf(i), HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}})
	}
	lie := d.Holds
	apply := func() {
		d.Head.Version++
		if _, _, err := st.Documents.ApplyHolds(noon, d, fmt.Sprint(d.Head.Version)); err != nil {
			b.Fatal(err)
		}
	}
	apply()
	server := nameOf(held)
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint("h", i)
		d.Releases = nil
		d.Holds = append(lie[:held:held], resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: server, HoldTerms: resource.HoldTerms{Key: id, Mode: resource.StopHard}}})
		apply()
		d.Holds, d.Releases = lie, []resource.Release{{HoldID: id, Server: server, By: "owner"}}
		apply()
	}
}
