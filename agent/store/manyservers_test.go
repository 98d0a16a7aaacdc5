package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
)

// manyServers is how many servers one agent is to serve; see the targets of BENCHMARKS.md.
const manyServers = 2000

func nameOf(i int) string { return fmt.Sprintf("s%05d", i) }

// bootedRecord is the record of a server that was claimed and booted several times, of
// some 2 KB. Every tenth server was being served its boot file when the agent died.
func bootedRecord(i int) decide.Record {
	name := nameOf(i)
	at := noon.Add(time.Duration(i) * time.Second)
	a := &decide.Attempt{
		ID: "attempt-" + name, Token: strings.Repeat("t", 32), Stage: decide.Stage{State: resource.AttemptSucceeded, Since: at, Evidence: protocol.EvidenceInstalled, PowerOn: decide.PowerOn{Sent: at}}, At: at, Number: 3,
		Order: decide.Order{Target: protocol.TargetHdd, OwnerUID: "claim-" + name, Generation: 3, Digest: "sha256:" + strings.Repeat("a", 64), Chain: &protocol.BootChain{Last: "installer.efi", Files: []protocol.ChainFile{
			{Name: "shim.efi", Digest: "sha256:" + strings.Repeat("b", 64)}, {Name: "installer.efi", Digest: "sha256:" + strings.Repeat("c", 64)},
		}}},
	}
	if i%10 == 0 {
		a.Order.Target, a.Stage.State, a.Marks.Served = protocol.TargetUefiHTTP, resource.AttemptConsumed, true
	}
	r := decide.Record{
		Server: name, Shown: decide.Shown{Power: protocol.PowerOn, Seen: protocol.PowerOn, Epoch: 3}, LastPoweredOn: at, Attempt: a,
		Owners:   decide.Owners{Used: map[string]decide.GrantUse{}, Earlier: map[string]resource.Provisioned{}},
		Requests: []decide.RequestState{{Request: resource.Request{ID: "reboot-" + name, Server: name}, AcceptedAt: at, Outcome: resource.OutcomePending}},
	}
	for g := range 3 {
		key := fmt.Sprintf("claim-%s/%d", name, g)
		r.Owners.Used[key] = decide.GrantUse{Attempts: 2, Spent: true, Reason: "the boot file was fetched", At: at}
		r.Owners.Earlier[key] = resource.Provisioned{Server: name, OwnerUID: "claim-" + name, Generation: uint64(g), ImageDigest: a.Order.Digest, At: at}
	}
	return r
}

// fill writes records, intents and holds as an agent has them that has served n servers
// for long. Every eighth server is held.
func fill(t testing.TB, db state.Store, n int) {
	t.Helper()
	for from := 0; from < n; from += 50 {
		err := db.Update(func(x state.Txn) error {
			for i := from; i < min(from+50, n); i++ {
				if err := put(x, "record/"+nameOf(i), bootedRecord(i)); err != nil {
					return err
				}
				if err := put(x, "intent/"+nameOf(i), Intent{ServerIntent: message.ServerIntent{Server: nameOf(i), UID: "uid", Segment: "boot"}, Shard: i / 50}); err != nil {
					return err
				}
				if i%8 == 0 {
					h := decide.Hold{ActiveHold: here("hold-"+nameOf(i), nameOf(i), "key", "owner"), EnforcedAt: noon}
					if err := put(x, "hold/"+nameOf(i)+"/"+h.ID, h); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// memoryDB has Badger's bound of a transaction, and no disk.
func memoryDB(t testing.TB) *badger.Store {
	t.Helper()
	db, err := badger.Open(badger.Config{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openMany(t testing.TB, db state.Store, crash state.Crasher) *Store {
	t.Helper()
	s, err := Open(Config{DB: db, NewID: func() string { return "id" }, Crash: crash})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestManyServersStart: an agent starts with as many servers as it is to serve, all of which have booted.
func TestManyServersStart(t *testing.T) {
	db := memoryDB(t)
	fill(t, db, manyServers)
	s := openMany(t, db, nil)
	for _, i := range []int{0, 1, 990, manyServers - 1} {
		v, err := s.Servers.View(nameOf(i))
		if err != nil {
			t.Fatal(err)
		}
		want := resource.AttemptSucceeded
		if i%10 == 0 {
			want = resource.AttemptFetched
		}
		if a := v.Record.Attempt; a == nil || a.Stage.State != want || a.Marks.Assumed != (want == resource.AttemptFetched) {
			t.Errorf("%s: attempt %+v, want %s", nameOf(i), a, want)
		}
	}
}

// TestManyServersInOneDocument: whatever one message may say of all servers can be written.
func TestManyServersInOneDocument(t *testing.T) {
	db := memoryDB(t)
	fill(t, db, manyServers)
	s := openMany(t, db, nil)
	holds := func(n int) (out []resource.ActiveHold) {
		for i := range n {
			out = append(out, here("mass-"+nameOf(i), nameOf(i), "mass", "owner"))
		}
		return out
	}
	all := holds(manyServers)
	d := message.HoldDoc{Head: protocol.Head{Version: 1}, IssuedAt: noon, Holds: all}
	for i := range manyServers {
		d.Requests = append(d.Requests, resource.Request{ID: "r-" + nameOf(i), Server: nameOf(i)})
	}
	for _, row := range []struct {
		name string
		do   func() error
		// holds and missing are those that lie then; requests those that wait.
		holds, missing, requests int
	}{
		{"every server is held", func() error {
			_, _, err := s.Documents.ApplyHolds(noon, d, "1")
			return err
		}, manyServers + manyServers/8, manyServers / 8, manyServers},
		{"a document without any of them", func() error {
			_, _, err := s.Documents.ApplyHolds(noon, message.HoldDoc{Head: protocol.Head{Version: 2}, IssuedAt: noon}, "2")
			return err
		}, manyServers + manyServers/8, manyServers + manyServers/8, 0},
		{"every hold is released", func() error {
			d := message.HoldDoc{Head: protocol.Head{Version: 3}, IssuedAt: noon}
			for _, h := range all {
				d.Releases = append(d.Releases, resource.Release{HoldID: h.ID, Server: h.Server, By: "owner"})
			}
			_, _, err := s.Documents.ApplyHolds(noon, d, "3")
			return err
		}, manyServers / 8, manyServers / 8, 0},
		{"the rack has one shard", func() error {
			_, _, err := s.Documents.ApplyRack(message.RackDoc{Head: protocol.Head{Version: 1}, Shards: 1, Rack: &message.RackIntent{Name: "r"}}, "1", nil)
			return err
		}, manyServers / 8, manyServers / 8, 0},
		{"the disk was rolled back", func() error { return s.Identity.Renew(noon, "id") }, manyServers / 8, manyServers / 8, 0},
		{"the hub has all events", func() error {
			b, err := s.Events.Backlog(0)
			if err != nil {
				return err
			}
			return s.Events.Acknowledge(b.Head)
		}, manyServers / 8, manyServers / 8, 0},
	} {
		if err := row.do(); err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		lie, missing, requests := 0, 0, 0
		err := db.View(func(x state.Txn) error {
			have, err := scan[decide.Hold](x, "hold/")
			if err != nil {
				return err
			}
			for _, h := range have {
				lie++
				if h.Missing {
					missing++
				}
			}
			waiting, err := scan[json.RawMessage](x, "request/")
			requests = len(waiting)
			return err
		})
		if err != nil || lie != row.holds || missing != row.missing || requests != row.requests {
			t.Errorf("%s: %d holds, %d missing, %d requests; want %d, %d, %d; %v", row.name, lie, missing, requests, row.holds, row.missing, row.requests, err)
		}
	}
	if b := s.backlogOf(t); b.Tail != 0 {
		t.Errorf("events wait: %+v", b)
	}
	intents, gone := 0, 0
	o, err := s.Servers.Overview()
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range o.Intents {
		if intents++; in.Missing {
			gone++
		}
	}
	if intents != manyServers || gone != manyServers {
		t.Errorf("%d intents, %d left out", intents, gone)
	}
	for _, i := range []int{0, 7, manyServers - 1} {
		v, err := s.Servers.View(nameOf(i))
		if err != nil || v.Record.Requests[0].Outcome != resource.OutcomeUnknown {
			t.Errorf("%s: %+v, %v", nameOf(i), v.Record.Requests, err)
		}
	}
}

func (s *Store) backlogOf(t *testing.T) Backlog {
	t.Helper()
	b, err := s.Events.Backlog(1)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
