package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

type noImages struct{}

func (noImages) Pull(context.Context, resource.Image) error { return errors.New("there is none") }

type noCredentials struct{}

func (noCredentials) Read(string) (bmc.Credentials, string, error) { return bmc.Credentials{}, "", nil }

// benchAgent is an agent of n servers that have booted, on a disk in memory.
func benchAgent(b *testing.B, n int) *Agent {
	b.Helper()
	db, err := badger.Open(badger.Config{InMemory: true})
	if err != nil {
		b.Fatal(err)
	}
	blobs, err := blob.Open(blob.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = blobs.Close(), db.Close() })
	a := startAgent(b, db, blobs)
	for shard := range n / message.MaxServersPerShard {
		d := benchShard(n, shard, 1)
		if err := (heard{a}).Rack(d, fmt.Sprintf("rack/%d", shard), "1"); err != nil {
			b.Fatal(err)
		}
		for _, in := range d.Servers {
			powerOn(b, a, in)
		}
	}
	return a
}

// startAgent makes an agent over what is in its store.
func startAgent(b *testing.B, db state.Store, blobs *blob.Store) *Agent {
	b.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	a, err := New(Config{
		Agent: "agent-1", Rack: "rack-1", DB: db, Blobs: blobs, Signer: wire.NewSigner(key), HubKeys: []ed25519.PublicKey{key.Public().(ed25519.PublicKey)},
		Credentials: noCredentials{}, Puller: noImages{}, Clock: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(), OpenBMC: func(bmc.Target) (bmc.Driver, error) { return nil, errors.New("there is none") },
	})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// powerOn gives a server the record of one that has booted several times.
func powerOn(b *testing.B, a *Agent, in message.ServerIntent) {
	b.Helper()
	_, _, err := a.store.Servers.Step(in.Server, func(v store.View) decide.Plan {
		v.Record.Attempt = &decide.Attempt{
			ID: in.Server, Token: in.Server, Stage: decide.Stage{State: resource.AttemptSucceeded},
			Order: decide.Order{
				Target: protocol.TargetHdd, OwnerUID: in.Owner.UID, Digest: in.Boot.Image.Digest,
				Chain: &protocol.BootChain{Last: "uki", Files: []protocol.ChainFile{{Name: "uki", Digest: in.Boot.Image.Digest}}},
			},
		}
		v.Record.Owners.Used, v.Record.Owners.Earlier = map[string]decide.GrantUse{}, map[string]resource.Provisioned{}
		for g := range 4 {
			key := fmt.Sprintf("%s/%d", in.Owner.UID, g)
			v.Record.Owners.Used[key] = decide.GrantUse{Attempts: 1, Spent: true, Reason: "the boot file was fetched"}
			v.Record.Owners.Earlier[key] = resource.Provisioned{OwnerUID: in.Owner.UID, Server: in.Server, ImageDigest: in.Boot.Image.Digest}
		}
		return decide.Plan{Record: v.Record, Persist: true}
	})
	if err != nil {
		b.Fatal(err)
	}
}

// benchShard is a shard of claimed servers.
func benchShard(n, shard int, version uint64) message.RackDoc {
	d := message.RackDoc{Head: protocol.Head{Version: version}, Agent: "agent-1", Shard: shard, Shards: n / message.MaxServersPerShard}
	if shard == 0 {
		d.Rack = &message.RackIntent{Name: "rack-1", PollInterval: 15 * time.Second}
	}
	digest := "sha256:" + strings.Repeat("a", 64)
	for i := range message.MaxServersPerShard {
		n := shard*message.MaxServersPerShard + i
		name := fmt.Sprintf("server-%05d", n)
		d.Servers = append(d.Servers, message.ServerIntent{
			Server: name, UID: "uid-" + name, Segment: "boot", BootMAC: fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8, n&255), Architecture: "amd64",
			BMC: message.BMCIntent{Name: name, Address: "https://192.0.2.1", CredentialsRef: "local:bmc"}, Owner: resource.Owner{Name: name, UID: "claim-" + name}, Power: resource.WantOn,
			Boot: &message.BootIntent{
				Owner: resource.Owner{Name: name, UID: "claim-" + name},
				GrantedBoot: resource.GrantedBoot{Generation: version, BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{Boot: resource.BootHdd}, Image: resource.Image{
					Digest: digest, Artefacts: []resource.Artefact{{Digest: digest, Size: 1}},
				}}},
			},
		})
	}
	return d
}

// BenchmarkDocument is the cost of one shard of 50 servers at an agent of so many, from
// the document until the boot servers answer by it.
func BenchmarkDocument(b *testing.B) {
	for _, n := range []int{50, 500, 2000} {
		b.Run(fmt.Sprint("servers=", n), func(b *testing.B) {
			a := benchAgent(b, n)
			version := uint64(1)
			for b.Loop() {
				version++
				if err := (heard{a}).Rack(benchShard(n, 0, version), "rack/0", fmt.Sprint(version)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart is a start of an agent of so many servers that have booted.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{50, 500, 2000} {
		b.Run(fmt.Sprint("servers=", n), func(b *testing.B) {
			a := benchAgent(b, n)
			for b.Loop() {
				startAgent(b, a.cfg.DB, a.cfg.Blobs)
			}
		})
	}
}
