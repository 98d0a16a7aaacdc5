package iso

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/blob"
)

// Config is what a Shelf needs. Dir, Store, Needed, Clock and Registerer are required.
type Config struct {
	Dir string // created if it does not exist; only this process may use it
	// Quota bounds all contents together, in bytes; 0 is no bound but the disk. MinFree is
	// how many bytes of the file system are left alone.
	Quota, MinFree int64
	Store          *store.Store
	// Verifier checks signatures; nil refuses files that come with one. Keyring are the keys
	// that they are checked with, binary or armored. With it no caller brings keys of its
	// own. RequireSignature refuses files without a signature.
	Verifier         Verifier
	Keyring          []byte
	RequireSignature bool
	// Needed are the digests that documents name which agents were sent. While it fails
	// nothing is removed.
	Needed func() (map[string]bool, error)
	// Depot has contents where all hubs of the store find them; nil where this hub's folder is all there is.
	Depot Depot
	// Event files an event of the hub; nil files none.
	Event func(ctx context.Context, message string)

	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Depot has contents where all hubs of the store find them.
type Depot interface {
	// Keep has a content of the folder there, all of it, and returns its record, which was touched just now.
	Keep(ctx context.Context, digest string) (store.Content, error)
	// Whole reports whether all of a content is there.
	Whole(digest string) bool
	// Want has one fetched soon, and reports whether there is one to fetch.
	Want(digest string) bool
}

// Shelf keeps uploaded files. All methods are safe for concurrent use.
type Shelf struct {
	cfg     Config
	log     *slog.Logger
	blobs   *blob.Store
	keys    Keys // nil: callers bring their own
	metrics *metrics

	reading  *reading
	uploads  *uploads
	contents *contents
	removal  *removal
}

// Open reads what is there. The codes are invalid (configuration, keyring), conflict
// (another process uses the folder) and internal.
func Open(cfg Config) (*Shelf, error) {
	const op = "open uploaded files"
	if cfg.Dir == "" || cfg.Store == nil || cfg.Needed == nil || cfg.Clock == nil || cfg.Registerer == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Dir, Store, Needed, Clock and Registerer are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Event == nil {
		cfg.Event = func(context.Context, string) {}
	}
	s := &Shelf{cfg: cfg, log: cfg.Logger, reading: &reading{found: map[readKey]*readResult{}}}
	var err error
	switch {
	case len(cfg.Keyring) > 0 && cfg.Verifier == nil:
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "there is a keyring, and this build cannot check signatures").WithHint("leave isos.keyring out of the hub's file")
	case len(cfg.Keyring) > 0:
		if s.keys, err = cfg.Verifier.Keys(cfg.Keyring); err != nil {
			return nil, err
		}
	}
	if cfg.RequireSignature && s.keys == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "signatures are required, and there is no keyring").WithHint("give isos.keyring in the hub's file")
	}
	if err := os.MkdirAll(s.path("uploads"), 0o700); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	s.blobs, err = blob.Open(blob.Config{Dir: s.path("content"), Quota: cfg.Quota, MinFree: cfg.MinFree, Keep: true, Logger: cfg.Logger, Registerer: cfg.Registerer, Crash: cfg.Crash})
	if err != nil {
		return nil, err
	}
	s.uploads = &uploads{dir: s.path("uploads"), log: cfg.Logger, clock: cfg.Clock, byID: map[string]*upload{}}
	if err := s.uploads.load(); err != nil {
		return nil, errors.Join(err, s.blobs.Close())
	}
	s.contents = &contents{blobs: s.blobs, store: cfg.Store, log: cfg.Logger, clock: cfg.Clock, byDigest: map[string]*content{}}
	s.metrics = newMetrics(s)
	s.removal = &removal{
		blobs: s.blobs, store: cfg.Store, uploads: s.uploads, contents: s.contents, documents: cfg.Needed,
		log: cfg.Logger, clock: cfg.Clock, collected: s.metrics.collected, unneeded: map[string]time.Time{},
	}
	if err := cfg.Registerer.Register(s.metrics); err != nil {
		return nil, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%w", err), s.blobs.Close())
	}
	return s, nil
}

func (s *Shelf) path(part ...string) string {
	return filepath.Join(append([]string{s.cfg.Dir}, part...)...)
}

// lookEvery is how often it is looked at what has expired.
const lookEvery = 15 * time.Second

// Run closes what nobody sends to, and removes what has expired and what nobody needs,
// until ctx ends. It returns nil.
func (s *Shelf) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.expire(ctx)
			s.contents.rest()
			s.removal.collect()
		}
	}
}

// Close keeps what is there of uploads and gives up the folder. What is still being sent
// to ends with an error.
func (s *Shelf) Close() error {
	return errors.Join(append(s.contents.close(), s.blobs.Close())...)
}

// OpenContent is the content of a digest, for the caller to close, and its size in bytes.
// The codes are invalid, not_found, unavailable (it is being fetched from the servers of the store) and internal.
func (s *Shelf) OpenContent(digest string) (*os.File, int64, error) {
	f, size, err := s.blobs.Open(digest)
	if protocol.CodeOf(err) == protocol.CodeNotFound && s.cfg.Depot != nil && s.cfg.Depot.Want(digest) {
		err = protocol.Errorf(protocol.CodeUnavailable, "open file", "this hub fetches %s from the servers of its store", digest).WithHint("it is tried again by itself")
	}
	return f, size, err
}

// Verify compares a content with its digest. A damaged one is removed, and is invalid.
func (s *Shelf) Verify(ctx context.Context, digest string) error { return s.blobs.Verify(ctx, digest) }
