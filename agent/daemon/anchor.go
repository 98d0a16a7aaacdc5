package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/slots"
)

const (
	// anchorName is that of two files in the agent's folder: what is known of its database
	// beside it.
	anchorName = "database"
	// anchorRoom is for a rack of some 500 servers; it grows.
	anchorRoom = 256 << 10
	// anchorEvery is how often it follows the database. What was written within that time before
	// a kill is not missed if it is lost.
	anchorEvery = time.Second
	// anchorVersion is that of its form.
	anchorVersion = 1
)

// anchor is what is known of the agent's database beside it. It is not part of a transaction:
// it follows.
type anchor struct {
	dir  string
	pair *slots.Pair
	log  *slog.Logger
}

// anchored is how an anchor lies on disk.
type anchored struct {
	Version int `json:"version"`
	store.Anchor
}

// openAnchor reads what is known of the database in a folder; nothing of one that was never
// opened. One that is damaged is set aside, and said: then only the database's own head tells what
// is missing. Errors: unavailable (the disk).
func openAnchor(dir string, crash state.Crasher, log *slog.Logger) (*anchor, store.Anchor, error) {
	a := &anchor{dir: dir, log: log}
	var err error
	open := func() {
		a.pair, err = slots.Open(slots.Config{Dir: dir, Name: anchorName, Size: anchorRoom, Crash: crash})
	}
	open()
	if errors.Is(err, slots.ErrDamaged) {
		log.Error("what is known of the store beside it is damaged, and is begun anew", "err", err)
		if err = a.remove(); err == nil {
			open()
		}
	}
	if err != nil {
		return nil, store.Anchor{}, err
	}
	raw, ok := a.pair.Read()
	if !ok {
		return a, store.Anchor{}, nil
	}
	known, err := decodeAnchor(raw)
	if err != nil {
		log.Error("what is known of the store beside it cannot be read, and is begun anew", "err", err)
		return a, store.Anchor{}, nil
	}
	return a, known, nil
}

func decodeAnchor(raw []byte) (store.Anchor, error) {
	var v anchored
	if err := json.Unmarshal(raw, &v); err != nil {
		return store.Anchor{}, err
	}
	if v.Version != anchorVersion {
		return store.Anchor{}, protocol.Errorf(protocol.CodeUnsupported, "read what is known of the store", "version %d; this release knows %d", v.Version, anchorVersion)
	}
	return v.Anchor, nil
}

func (a *anchor) remove() error {
	var errs []error
	for _, slot := range []string{".0", ".1"} {
		if err := os.Remove(filepath.Join(a.dir, anchorName+slot)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// keep puts down what is known now.
func (a *anchor) keep(v store.Anchor) error {
	raw, err := json.Marshal(anchored{anchorVersion, v})
	if err != nil {
		return err
	}
	return a.pair.Write(raw)
}

// database is what an anchor follows.
type database interface {
	Head() store.Head
	Anchor() (store.Anchor, error)
}

// follow keeps up with a database until ctx ends, and once more then.
func (a *anchor) follow(ctx context.Context, of database) error {
	tick := time.NewTicker(anchorEvery)
	defer tick.Stop()
	kept, failing := uint64(0), false
	for {
		if now := of.Head().Sequence; now != kept {
			err := a.take(of)
			if err == nil {
				kept = now
			} else if !failing {
				a.log.Error("what the store has cannot be put down beside it; if the store is lost now, that is noticed less surely", "err", err)
			}
			failing = err != nil
		}
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (a *anchor) take(of database) error {
	v, err := of.Anchor()
	if err != nil {
		return err
	}
	return a.keep(v)
}

func (a *anchor) close() error { return a.pair.Close() }
