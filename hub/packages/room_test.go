package packages

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func now() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func public(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }

// bench is a room on a store and a shelf.
type bench struct {
	*Room
	t      *testing.T
	store  *store.Store
	shelf  *iso.Shelf
	events []string
}

func newBench(t *testing.T, keys ...ed25519.PublicKey) *bench {
	t.Helper()
	kv, n := storetest.NewMemory(), 0
	st, err := store.Open(t.Context(), store.Config{KV: kv, Log: kv, Clock: now, NewID: func() string { n++; return fmt.Sprintf("id%d", n) }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: st}
	b.shelf, err = iso.Open(iso.Config{
		Dir: t.TempDir(), Quota: 1 << 20, Store: st, Needed: func() (map[string]bool, error) { return nil, nil }, Clock: now, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.shelf.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Room = New(Config{
		Store: st, Shelf: b.shelf, Keys: keys, Event: func(_ context.Context, m string) { b.events = append(b.events, m) },
		Clock: now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	return b
}

func signed(t *testing.T, by byte, version string, programs ...string) (manifest []byte, digest string) {
	t.Helper()
	m := agentpackage.Manifest{Version: version, Protocol: 1, MadeAt: now()}
	for i, p := range programs {
		m.Binaries = append(m.Binaries, agentpackage.Binary{Architecture: []string{"amd64", "arm64"}[i], SHA256: wire.Digest([]byte(p)), Size: int64(len(p))})
	}
	manifest, err := agentpackage.Sign(m, key(by))
	if err != nil {
		t.Fatal(err)
	}
	return manifest, wire.Digest(manifest)
}

func wants(t *testing.T, what string, err error, code protocol.Code) {
	t.Helper()
	if protocol.CodeOf(err) != code || code != "" && protocol.HintOf(err) == "" {
		t.Errorf("%s: %v (%s), want %q and a hint", what, err, protocol.HintOf(err), code)
	}
}

// A push: the manifest, pieces that break, and the same again; only then it is whole.
func TestPush(t *testing.T) {
	b := newBench(t, public(1), public(2))
	amd, arm := strings.Repeat("x86 ", 100), strings.Repeat("arm ", 100)
	manifest, digest := signed(t, 2, "0.2.0", amd, arm)
	p, err := b.Put(t.Context(), digest, manifest, "ann")
	if err != nil || p.Whole || p.Version != "0.2.0" || p.Key != fmt.Sprintf("%x", wire.KeyID(public(2))) || p.UploadedBy != "ann" || !p.UploadedAt.Equal(now()) || len(p.Programs) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	at, err := b.Append(t.Context(), digest, "amd64", 0, strings.NewReader(amd[:100]))
	if err != nil || at.Offset != 100 || at.Whole {
		t.Fatalf("%+v, %v", at, err)
	}
	_, err = b.Append(t.Context(), digest, "amd64", 0, strings.NewReader(amd))
	wants(t, "a piece that is there", err, protocol.CodeConflict)
	_, err = b.Append(t.Context(), digest, "amd64", 100, io.MultiReader(strings.NewReader(amd[100:150]), iotest.ErrReader(errors.New("cut"))))
	if protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a cut: %v", err)
	}
	if p, err = b.Put(t.Context(), digest, manifest, "bob"); err != nil || p.Programs[0].Offset != 150 || p.UploadedBy != "ann" {
		t.Fatalf("pushed again: %+v, %v", p, err)
	}
	if at, err = b.Append(t.Context(), digest, "amd64", 150, strings.NewReader(amd[150:])); err != nil || !at.Whole || at.Offset != at.Size {
		t.Fatalf("%+v, %v", at, err)
	}
	_, err = b.Append(t.Context(), digest, "amd64", 0, strings.NewReader(amd))
	wants(t, "a program that is whole", err, protocol.CodeConflict)
	if p, err = b.Get(digest); err != nil || p.Whole {
		t.Errorf("one of two programs: %+v, %v", p, err)
	}
	if at, err = b.Append(t.Context(), digest, "arm64", 0, strings.NewReader(arm)); err != nil || !at.Whole {
		t.Fatalf("%+v, %v", at, err)
	}
	if list := b.List(); len(list) != 1 || !list[0].Whole || list[0].Digest != digest {
		t.Errorf("%+v", list)
	}
	if len(b.events) != 2 || !strings.Contains(b.events[0], "pushed by ann") || !strings.Contains(b.events[1], "all of its programs") {
		t.Errorf("%q", b.events)
	}
	// Another package with one of the programs: it is not sent again.
	manifest, digest = signed(t, 1, "0.3.0", amd)
	if p, err = b.Put(t.Context(), digest, manifest, "ann"); err != nil || !p.Whole {
		t.Errorf("%+v, %v", p, err)
	}
	if n := testutil.ToFloat64(one{newMetrics(b.Room), "yes"}); n != 2 {
		t.Errorf("%v packages are whole", n)
	}
}

// one is the series of one value.
type one struct {
	*metrics
	whole string
}

func (o one) Collect(ch chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric, 2)
	o.metrics.Collect(all)
	yes, no := <-all, <-all
	if o.whole == "yes" {
		ch <- yes
	} else {
		ch <- no
	}
}

func TestRefusedManifests(t *testing.T) {
	good, digest := signed(t, 1, "0.2.0", "x")
	foreign, foreignDigest := signed(t, 8, "0.2.0", "x")
	other, err := wire.Seal(wire.NewSigner(key(1)), "rb/v1/fact/other", agentpackage.Manifest{Version: "0.2.0", Protocol: 1, MadeAt: now(), Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: digest, Size: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	torn := good[:len(good)-1]
	for name, row := range map[string]struct {
		keys     []ed25519.PublicKey
		manifest []byte
		digest   string
		code     protocol.Code
	}{
		"of the publisher":               {[]ed25519.PublicKey{public(1)}, good, digest, ""},
		"of another publisher":           {[]ed25519.PublicKey{public(1), public(2)}, foreign, foreignDigest, protocol.CodeDenied},
		"of another publisher, no keys":  {nil, foreign, foreignDigest, ""},
		"signed for another purpose":     {[]ed25519.PublicKey{public(1)}, other, wire.Digest(other), protocol.CodeDenied},
		"another digest":                 {nil, good, foreignDigest, protocol.CodeInvalid},
		"torn":                           {nil, torn, wire.Digest(torn), protocol.CodeInvalid},
		"empty":                          {nil, nil, wire.Digest(nil), protocol.CodeInvalid},
		"larger than a manifest may be":  {nil, make([]byte, agentpackage.MaxManifest+1), digest, protocol.CodeInvalid},
		"what is no digest for its name": {nil, good, "../x", protocol.CodeInvalid},
	} {
		b := newBench(t, row.keys...)
		_, err := b.Put(t.Context(), row.digest, row.manifest, "ann")
		wants(t, name, err, row.code)
		if n := len(b.List()); (n == 1) != (row.code == "") {
			t.Errorf("%s: %d packages", name, n)
		}
	}
}

// Other bytes than the manifest's are refused at the end, as a whole, and the right ones are taken then.
func TestAnotherProgram(t *testing.T) {
	b := newBench(t)
	right, wrong := strings.Repeat("right", 50), strings.Repeat("wrong", 50)
	manifest, digest := signed(t, 1, "0.2.0", right)
	if _, err := b.Put(t.Context(), digest, manifest, "ann"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Append(t.Context(), digest, "amd64", 0, strings.NewReader(wrong))
	wants(t, "another program", err, protocol.CodeInvalid)
	_, err = b.Append(t.Context(), digest, "arm64", 0, strings.NewReader(wrong))
	wants(t, "an architecture that it has not", err, protocol.CodeNotFound)
	_, err = b.Append(t.Context(), wire.Digest([]byte("x")), "amd64", 0, strings.NewReader(wrong))
	wants(t, "a package that is not there", err, protocol.CodeNotFound)
	p, err := b.Get(digest)
	if err != nil || p.Whole || p.Programs[0].Offset != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	_, err = b.Append(t.Context(), digest, "amd64", 0, strings.NewReader(right+"!"))
	wants(t, "more than the program", err, protocol.CodeInvalid)
	if p, err = b.Get(digest); err != nil {
		t.Fatal(err)
	}
	at := p.Programs[0].Offset
	if got, err := b.Append(t.Context(), digest, "amd64", at, strings.NewReader(right[at:])); err != nil || !got.Whole {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBound(t *testing.T) {
	b := newBench(t)
	for n := range maxPackages + 1 {
		manifest, digest := signed(t, 1, fmt.Sprintf("0.2.%d", n), "x")
		_, err := b.Put(t.Context(), digest, manifest, "ann")
		if n == maxPackages {
			wants(t, "one more", err, protocol.CodeUnavailable)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	manifest, digest := signed(t, 1, "0.2.0", "x")
	if _, err := b.Put(t.Context(), digest, manifest, "ann"); err != nil {
		t.Errorf("one that is there: %v", err)
	}
}

// A package stays while somebody is to run it, and who is said.
func TestRemove(t *testing.T) {
	b := newBench(t)
	manifest, digest := signed(t, 1, "0.2.0", "x")
	_, before := signed(t, 1, "0.1.0", "y")
	put := func() {
		if _, err := b.Put(t.Context(), digest, manifest, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	upgrade := func(pack, stored string, phase resource.RolloutPhase) *resource.AgentUpgrade {
		u := &resource.AgentUpgrade{Spec: resource.AgentUpgradeSpec{Package: pack}}
		u.Metadata.Name = "up"
		u.Default()
		if stored != "" {
			u.Status.Package, u.Status.Rollout = stored, &resource.RolloutStatus{Phase: phase}
		}
		return u
	}
	agent := func(o *resource.AgentOrder) *resource.Agent {
		a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}, Key: make([]byte, 32)}}
		a.Metadata.Name = "r1-1"
		a.Status.Order = o
		return a
	}
	ended := now()
	for name, row := range map[string]struct {
		obj  resource.Object
		says string
	}{
		"nobody":                         {nil, ""},
		"an upgrade":                     {upgrade(digest, "", ""), "AgentUpgrade up"},
		"an upgrade to another":          {upgrade(before, "", ""), ""},
		"a roll-out under way":           {upgrade(before, digest, resource.RolloutCanary), "AgentUpgrade up"},
		"a roll-out that is over":        {upgrade(before, digest, resource.RolloutFailed), ""},
		"an open order":                  {agent(&resource.AgentOrder{ID: "1", Package: digest}), "agents r1-1"},
		"an open order of another":       {agent(&resource.AgentOrder{ID: "1", Package: before}), ""},
		"an order that has ended":        {agent(&resource.AgentOrder{ID: "1", Package: digest, EndedAt: &ended}), ""},
		"an agent that was told nothing": {agent(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b = newBench(t)
			put()
			if row.obj != nil {
				rack := &resource.Rack{}
				rack.Metadata.Name = "r1"
				rack.Default()
				if err := b.store.Objects.Put(t.Context(), rack); err != nil {
					t.Fatal(err)
				}
				row.obj.Default()
				if err := b.store.Objects.Put(t.Context(), row.obj); err != nil {
					t.Fatal(err)
				}
			}
			_, err := b.Remove(t.Context(), digest, "ann")
			if row.says == "" {
				if err != nil || len(b.List()) != 0 || !slices.ContainsFunc(b.events, func(e string) bool { return strings.Contains(e, "deleted by ann") }) {
					t.Errorf("%v, %q", err, b.events)
				}
				_, err = b.Remove(t.Context(), digest, "ann")
				wants(t, "again", err, protocol.CodeNotFound)
				return
			}
			wants(t, name, err, protocol.CodeConflict)
			if err == nil || !strings.Contains(err.Error(), row.says) || len(b.List()) != 1 {
				t.Errorf("%v", err)
			}
		})
	}
}
