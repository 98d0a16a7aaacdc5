package auditcopy

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/hub/audit"
	"rackboot/hub/auditcopy/copytest"
	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/protocol/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = time.Minute

func signer() *wire.Signer {
	seed := sha256.Sum256([]byte("hub"))
	return wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
}

func keys() *auditlog.Keys { return auditlog.NewKeys(signer().Public()) }

// site are hubs that share a stream, and the store's heads.
type site struct {
	t  testing.TB
	on *copytest.Stream
	// served is a stream of a server, in place of on; nil is none.
	served Journal

	mu    sync.Mutex
	heads map[string]auditlog.Head
	now   time.Time
}

func newSite(t testing.TB) *site {
	return &site{t: t, on: &copytest.Stream{}, heads: map[string]auditlog.Head{}, now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Second)
	return s.now
}

// member is a hub of a site.
type member struct {
	*Room
	site *site
	name string
	dir  string
	log  *audit.Log
	open func() // the log and its copy
}

// head implements audit.Heads.
type head struct{ m *member }

func (h head) AuditHead(ctx context.Context) (audit.Head, error) {
	end, err := h.m.End(ctx)
	h.m.site.mu.Lock()
	defer h.m.site.mu.Unlock()
	if kept := h.m.site.heads[h.m.name]; kept.Seq > end.Seq {
		end = kept
	}
	return audit.Head{Seq: end.Seq, Hash: end.Hash}, err
}

func (h head) KeepAuditHead(ctx context.Context, now audit.Head) error {
	if err := h.m.Follow(ctx, now.Seq); err != nil {
		return err
	}
	h.m.site.mu.Lock()
	defer h.m.site.mu.Unlock()
	h.m.site.heads[h.m.name] = auditlog.Head{Hub: h.m.name, Seq: now.Seq, Hash: now.Hash}
	return nil
}

// hub starts a hub in a folder of its own.
func (s *site) hub(name string) *member { return s.hubIn(name, s.t.TempDir()) }

func (s *site) hubIn(name, dir string) *member {
	s.t.Helper()
	m := &member{site: s, name: name, dir: dir}
	m.Room = New(Config{
		Hub: name, Open: func(context.Context) (Journal, error) {
			if s.served != nil {
				return s.served, nil
			}
			return s.on, s.on.Call("open")
		},
		Head: func(_ context.Context, hub string) (auditlog.Head, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.heads[hub], nil
		},
		Hubs: func() []string { return []string{name} }, Signer: signer(), Clock: s.clock,
	})
	var err error
	m.log, err = audit.Open(audit.Config{
		Dir: filepath.Join(dir, "audit"), Signer: signer(), Clock: s.clock, Registerer: prometheus.NewRegistry(), SegmentBytes: 2 << 10, CheckpointEvery: 5,
		Heads: head{m}, Hub: name, Others: m.Others,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	m.Start(m.log)
	s.t.Cleanup(m.end)
	return m
}

// end stops a hub.
func (m *member) end() {
	_ = m.log.Close() // it may be closed
	m.Close()
}

func (m *member) add(n int) {
	m.site.t.Helper()
	for range n {
		if _, err := m.log.Append(m.site.t.Context(), protocol.AuditEntry{Caller: m.name + "-admin", Op: "hold", Target: "Server/n1", Outcome: protocol.AuditAsked}); err != nil {
			m.site.t.Fatal(err)
		}
	}
}

// copied waits until all that the hub has is in the stream.
func (m *member) isCopied() {
	m.site.t.Helper()
	ctx, cancel := context.WithTimeout(m.site.t.Context(), patience)
	defer cancel()
	seq, _ := m.log.Head()
	if err := m.await(ctx, seq); err != nil {
		m.site.t.Fatal(err)
	}
}

// knows waits until a hub has heard of another's head, and has it sign that.
func (m *member) knows(other *member) {
	m.site.t.Helper()
	seq, _ := other.log.Head()
	m.site.until("a head is known", func() bool {
		return slices.ContainsFunc(m.Others(nil), func(h auditlog.Head) bool { return h.Hub == other.name && h.Seq >= seq })
	})
	m.add(5)
}

func (s *site) until(what string, is func() bool) {
	s.t.Helper()
	for begun := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			s.t.Fatalf("it is not so that %s", what)
		}
	}
}

// export is an export of all logs as a hub makes it.
func (m *member) export(w io.Writer) error {
	do, err := m.Export(m.site.t.Context())
	if err != nil {
		return err
	}
	return do(m.site.t.Context(), w)
}
