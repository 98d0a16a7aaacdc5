package shards

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	hubreports "rackboot/hub/reports"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// One server of fifty has changed: what the agent packs and signs, the bytes on the way, and what the hub opens and takes.
func BenchmarkReport(b *testing.B) {
	for _, changes := range []bool{false, true} {
		name := "all"
		if changes {
			name = "changes"
		}
		b.Run(name, func(b *testing.B) {
			public, key, err := ed25519.GenerateKey(nil)
			if err != nil {
				b.Fatal(err)
			}
			signer, verifier, mirror := wire.NewSigner(key), wire.NewVerifier(public), hubreports.New()
			rack := hubreports.Rack{Has: func(string) bool { return true }}
			r := report(message.MaxServersPerShard)
			mirror.Put(r, rack, time.Now())
			topic, sent := message.TopicUp("rack-1", message.LeafReport), 0
			for b.Loop() {
				r.Seq++
				r.Servers[7].PowerEpoch++
				m := r
				if changes {
					m = since(r, 7)
				}
				sealed, err := wire.Seal(signer, topic, m)
				if err != nil {
					b.Fatal(err)
				}
				sent += len(sealed)
				var got message.Report
				if err := wire.Open(verifier, topic, sealed, &got); err != nil {
					b.Fatal(err)
				}
				if !changes {
					mirror.Put(got, rack, time.Now())
				} else if _, changed, have := mirror.Change(got, rack, time.Now()); !changed || !have {
					b.Fatal(changed, have)
				}
			}
			b.ReportMetric(float64(sent)/float64(b.N), "B/report")
		})
	}
}

// report tells of servers that were installed, as an agent does.
func report(servers int) message.Report {
	at := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	r := message.Report{Agent: "rack-1", Rack: "rack-1", Incarnation: "1nca", Run: "7a11", Session: "s", Seq: 1, At: at, Version: "0.3.0", Shards: 1, Applied: map[string]protocol.Head{"rack/0": {Epoch: 1, Version: 45}}}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range servers {
		begun := at.Add(-time.Duration(random.Int64N(int64(10 * time.Second))))
		took := time.Duration(random.Int64N(int64(time.Second)))
		on, since := at.Add(-time.Duration(random.Int64N(int64(240*time.Hour)))), at.Add(-time.Duration(random.Int64N(int64(240*time.Hour))))
		id := func() string { return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()) }
		r.Servers = append(r.Servers, resource.ServerReport{
			Server: fmt.Sprintf("rack-1-server-%02d", i), ReadAge: at.Sub(begun), Power: protocol.PowerOn, PowerEpoch: 4, LastPoweredOn: &on, OwnerUID: id(), BootGeneration: 1, Identity: id(),
			Attempt: &resource.AttemptReport{ID: id(), State: resource.AttemptSucceeded, Since: since, OwnerUID: id(), Number: 1},
			Observation: protocol.Observation{
				Server: fmt.Sprintf("rack-1-server-%02d", i), StartedAt: begun, ReadAt: begun.Add(took), Source: protocol.SourcePoll, Power: protocol.PowerOn, BootProgress: "OSRunning",
				Override: protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled, Mode: "UEFI"},
			},
		})
		r.Revisions = append(r.Revisions, 1)
	}
	return r
}

// since tells of one server of a report.
func since(r message.Report, server int) message.Report {
	m := r
	m.As, m.Servers, m.Revisions = 1, r.Servers[server:server+1], []uint64{r.Seq}
	m.Reads = make([]message.Read, len(r.Servers))
	for i := range m.Reads {
		o := r.Servers[i].Observation
		m.Reads[i] = message.Read{Age: r.Servers[i].ReadAge, Took: o.ReadAt.Sub(o.StartedAt)}
	}
	m.Digest = message.ShardDigest(func(yield func(string, uint64) bool) {
		for i, s := range r.Servers {
			revision := uint64(1)
			if i == server {
				revision = r.Seq
			}
			if !yield(s.Server, revision) {
				return
			}
		}
	})
	return m
}
