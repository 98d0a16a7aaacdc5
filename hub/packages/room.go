package packages

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/api"
	"rackboot/state"
)

// maxPackages bounds the packages that are kept.
const maxPackages = 32

// Shelf keeps programs, by their digests.
type Shelf interface {
	// Has reports whether a content is there, whole and compared with its digest, and Partial how much is of one that is not.
	Has(digest string) bool
	// Kept reports whether it is for good: where hubs share the store, each of them has it or fetches it.
	Kept(digest string) bool
	Partial(digest string) int64
	// Resume reads how much is there for sure, as it is needed to go on.
	Resume(ctx context.Context, digest string, size int64) (int64, error)
	// Take takes the next piece of a content of size bytes, and says how many bytes are there then. The last one compares it.
	Take(ctx context.Context, digest string, size, offset int64, r io.Reader) (int64, error)
}

// Config is what a Room is made of.
type Config struct {
	Store *store.Store
	Shelf Shelf
	// Keys are the publishers' whose packages are taken; none takes those of everybody.
	Keys []ed25519.PublicKey
	// Event files what happened.
	Event func(ctx context.Context, message string)

	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Room has the packages. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room, and registers its metrics.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg}
	cfg.Registerer.MustRegister(newMetrics(r))
	return r
}

// List are the packages, the newest upload first.
func (r *Room) List() []api.AgentPackage {
	out := []api.AgentPackage{}
	for _, p := range r.cfg.Store.AgentPackages.List() {
		item, err := r.item(p)
		if err != nil {
			r.cfg.Logger.Error("a package of agents cannot be read", "digest", p.Digest, "err", err)
			continue
		}
		out = append(out, item)
	}
	return out
}

// Get is one package. The codes are invalid (no digest) and not_found.
func (r *Room) Get(digest string) (api.AgentPackage, error) {
	p, err := r.cfg.Store.AgentPackages.Get(digest)
	if err != nil {
		return api.AgentPackage{}, err
	}
	return r.item(p)
}

// item is a package as it is shown.
func (r *Room) item(p store.AgentPackage) (api.AgentPackage, error) {
	m, err := agentpackage.Read(p.Manifest)
	if err != nil {
		return api.AgentPackage{}, err
	}
	out := api.AgentPackage{
		Digest: p.Digest, Version: m.Version, From: m.From, Protocol: m.Protocol, MadeAt: m.MadeAt, Key: p.Key, UploadedAt: p.UploadedAt, UploadedBy: p.UploadedBy, Whole: true,
	}
	for _, b := range m.Binaries {
		program := r.program(b)
		out.Whole = out.Whole && program.Whole
		out.Programs = append(out.Programs, program)
	}
	out.Upgrades, out.Agents = r.users(p.Digest)
	return out, nil
}

// program is a program as far as it is here, or where each hub of the store finds it.
func (r *Room) program(b agentpackage.Binary) api.AgentProgram {
	p := api.AgentProgram{Architecture: b.Architecture, SHA256: b.SHA256, Size: b.Size, Whole: r.cfg.Shelf.Kept(b.SHA256)}
	if p.Offset = b.Size; !p.Whole && !r.cfg.Shelf.Has(b.SHA256) {
		p.Offset = r.cfg.Shelf.Partial(b.SHA256)
	}
	return p
}
