package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"rackboot/hub/store"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
)

// storeID is where the store says which it is.
const storeID = "store"

// The streams of the store.
const (
	KVStream  = "rackboot"
	LogStream = "rackboot-log"
)

// Measured is a stream of the store.
type Measured interface {
	Extent(ctx context.Context) (heads.Extent, error)
}

// Streams are those of the store by name.
type Streams map[string]Measured

// Measure asks each how much it has.
func (s Streams) Measure(ctx context.Context) (map[string]heads.Extent, error) {
	now := map[string]heads.Extent{}
	for name, one := range s {
		e, err := one.Extent(ctx)
		if err != nil {
			return nil, err
		}
		now[name] = e
	}
	return now, nil
}

// ReadRecord reads what is known of the store. Errors: those of the file system.
func ReadRecord(path string) (r heads.Record, there bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, true, err
	}
	r = heads.Parse(raw)
	// What follows the last checkpoint is left by a crash, and goes.
	r.Whole = r.Whole && r.Size == int64(len(raw)) || r.Whole && heads.Parse(raw[:r.Size]).Whole
	return r, true, nil
}

// stateOf is what a store has that was surveyed.
func stateOf(s jetstream.Survey, extents map[string]heads.Extent) heads.State {
	now := heads.State{Streams: extents, Keys: make(map[string]heads.Key, len(s.Live)), Deleted: s.Deleted}
	for _, e := range s.Live {
		if k, counted := store.Head(e); counted {
			now.Keys[k.Name] = k
		}
		if e.Key == metaKey(storeID) {
			now.Store = string(e.Value)
		}
	}
	for _, key := range s.Unreadable {
		if store.Counted(key) {
			now.Unreadable = append(now.Unreadable, key)
		}
	}
	return now
}

func metaKey(name string) string { return "meta." + name }

// Surveyed is a store that was looked at before it is opened.
type Surveyed struct {
	Survey jetstream.Survey
	Was    heads.Record // what is known of it
	Loss   *heads.Loss
	ID     string // of the store; empty for one that has none
}

// Look looks at what the streams have, and holds it to what is known of them in the file at path. served says
// that a hub has served from them. Nothing is written.
func Look(ctx context.Context, path string, kv *jetstream.KV, s Streams, served bool, log *slog.Logger) (out Surveyed, err error) {
	was, there, err := ReadRecord(path)
	if err != nil {
		return out, err
	}
	extents, err := s.Measure(ctx)
	if err != nil {
		return out, err
	}
	if out.Survey, err = kv.Survey(ctx); err != nil {
		return out, err
	}
	now := stateOf(out.Survey, extents)
	out.Was, out.ID = was, now.Store
	out.Loss = heads.Judge(was, now)
	switch {
	case was.Known && !was.Whole:
		log.Error("part of what the store had cannot be read; what is lost may not be named", "path", path)
	case !was.Known && now.Store == "" && served:
		// Neither the store nor what stood beside it says so.
		out.Loss = &heads.Loss{All: true, Unlisted: true}
	case !was.Known && (there || now.Store != ""):
		log.Error("what the store had is not known: a loss before now is not noticed", "path", path,
			"hint", "if files of the hub's folder were damaged or put back, look with rackboot-hub check; it is written anew")
	}
	return out, nil
}

// maxSaid bounds the lost keys that the log names at a start; rackboot-hub check names all.
const maxSaid = 100

// Tell says in the log what was lost.
func Tell(log *slog.Logger, l *heads.Loss) {
	log.Error("the hub's store has lost what was acknowledged: it is only read, and agents hear nothing, until somebody decides", "lost", l.Error(), "hint", heads.Hint)
	for i, item := range l.Items {
		if i == maxSaid {
			log.Error("more is lost than is named here", "keys", len(l.Items), "hint", "rackboot-hub check names all")
			return
		}
		log.Error("lost", "kind", item.Kind, "name", item.Name, "how", item.How, "note", item.Note)
	}
}

// OpenStreams opens those of the store.
func OpenStreams(ctx context.Context, conn jetstream.Config) (*jetstream.KV, *jetstream.Log, error) {
	kvConfig, logConfig := conn, conn
	kvConfig.Name, logConfig.Name = KVStream, LogStream
	kv, err := jetstream.OpenKV(ctx, kvConfig)
	if err != nil {
		return nil, nil, err
	}
	facts, err := jetstream.OpenLog(ctx, logConfig)
	return kv, facts, err
}

// Identify gives a store an id, another one where it is anew, and returns it.
func Identify(ctx context.Context, st *store.Store, anew bool, newID func() string) (string, error) {
	raw, revision, err := st.Meta.Get(storeID)
	if err == nil && !anew {
		return string(raw), nil
	}
	id := newID()
	return id, st.Meta.Put(ctx, storeID, []byte(id), revision)
}
