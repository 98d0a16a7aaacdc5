package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"rackboot/hub/broker"
	"rackboot/hub/checkpoint"
	"rackboot/hub/cluster"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// Move is where a store is moved to.
type Move string

// The places.
const (
	MoveToNATS   Move = "nats"   // from the hub's folder to the servers of store.nats
	MoveToFolder Move = "folder" // the other way
)

// Moved says what a move has come to.
type Moved struct {
	Streams []jetstream.Copied
	// Already says that all of it was there before.
	Already bool
	// Aside is where the store is that was in the folder; empty if there was none.
	Aside string
	// Brought is how many contents of uploaded files came from the servers into the folder, and Lacking those that did not,
	// with the reason. To the servers they go when the hub starts.
	Brought int
	Lacking []string
}

const opMigrate = "move the hub's store"

// Migrate moves the store of a hub that does not run from its folder to the NATS servers of its file, or back, with its
// revisions and times, and compares both. It may be run again after it was interrupted: what is whole there already is
// compared only. The store that was left stays, in the folder under another name, so that no hub opens it by mistake.
//
// Errors: invalid; conflict where something else is there already, or a hub works there; unavailable, timeout.
func Migrate(ctx context.Context, c Config, to Move, crash state.Crasher) (out Moved, err error) {
	if c.Store.NATS == nil {
		return out, protocol.Errorf(protocol.CodeInvalid, opMigrate, "the hub's file has no store.nats").
			WithHint("add it for the move, in either direction; leave it out afterwards to go on in the folder")
	}
	if to != MoveToNATS && to != MoveToFolder {
		return out, protocol.Errorf(protocol.CodeInvalid, opMigrate, "%q is not %s or %s", to, MoveToNATS, MoveToFolder)
	}
	log := slog.New(slog.DiscardHandler)
	far, err := servers(ctx, *c.Store.NATS, log, cluster.NewLost())
	if err != nil {
		return out, err
	}
	defer far.close()
	if err := deserted(ctx, far.streams); err != nil {
		return out, err
	}
	if to == MoveToNATS && !exists(c.path("store/jetstream")) {
		return out, protocol.Errorf(protocol.CodeNotFound, opMigrate, "%s has no store", c.DataDir).WithHint("dataDir of the hub's file is its folder")
	}
	if out, err = between(ctx, c, far, to, log, crash); err != nil {
		return out, err
	}
	if to == MoveToFolder {
		files, err := c.files().bring(ctx, far.streams, far.bulk, log)
		out.Brought, out.Lacking = files.came, files.lacking
		return out, err
	}
	crash.At("migrate.moved")
	out.Aside = c.path("store") + ".moved-" + time.Now().UTC().Format("20060102T150405Z")
	return out, errors.Join(os.Rename(c.path("store"), out.Aside), syncDir(c.DataDir))
}

// between moves the store between the folder and the servers. The folder's is closed when it returns.
func between(ctx context.Context, c Config, far place, to Move, log *slog.Logger, crash state.Crasher) (out Moved, err error) {
	b, err := broker.Open(broker.Config{Dir: c.path("store"), Logger: log})
	if err != nil {
		return out, err
	}
	defer b.Close()
	near, err := inProcess(ctx, b, log)
	if err != nil {
		return out, err
	}
	from, into := near.streams, far.streams
	if to == MoveToFolder {
		from, into = far.streams, near.streams
	}
	out.Streams, out.Already, err = move(ctx, from, into, crash)
	return out, err
}

// stream is one of the store's, of either kind.
type stream interface {
	Copy(ctx context.Context, w io.Writer) (jetstream.Copied, error)
	Sum(ctx context.Context) (jetstream.Copied, []byte, error)
}

// move copies what is not there, and compares all.
func move(ctx context.Context, from, into jetstream.Config, crash state.Crasher) (done []jetstream.Copied, already bool, err error) {
	already = true
	for _, name := range []string{checkpoint.LogStream, checkpoint.KVStream} { // the keys last: they say that all is there
		from.Name, into.Name = name, name
		there, err := jetstream.Exists(ctx, from)
		if err == nil && !there {
			err = protocol.Errorf(protocol.CodeNotFound, opMigrate, "there is no %s to be moved", name).WithHint("look whether the store is where it is to be moved from")
		}
		if err != nil {
			return done, false, err
		}
		if there, err = jetstream.Exists(ctx, into); err != nil {
			return done, false, err
		}
		source, err := openStream(ctx, from)
		if err != nil {
			return done, false, err
		}
		if !there {
			already = false
			if err := carry(ctx, source, into); err != nil {
				return done, false, err
			}
			crash.At("migrate.stream")
		}
		target, err := openStream(ctx, into)
		if err != nil {
			return done, false, err
		}
		has, err := compare(ctx, name, source, target)
		if err != nil {
			return done, false, err
		}
		done = append(done, has)
	}
	return done, already, nil
}

// compare looks whether two streams are the same.
func compare(ctx context.Context, name string, source, target stream) (has jetstream.Copied, err error) {
	had, sum, err := source.Sum(ctx)
	if err != nil {
		return has, err
	}
	has, other, err := target.Sum(ctx)
	if err != nil {
		return has, err
	}
	if !bytes.Equal(sum, other) {
		return has, protocol.Errorf(protocol.CodeConflict, opMigrate, "%s has %d messages up to %d there, and %d up to %d here, and they are not the same", name, has.Messages, has.Last, had.Messages, had.Last).
			WithHint("a hub has used the other store: decide which one counts, and remove the stream %s of the other", name)
	}
	return has, nil
}

func openStream(ctx context.Context, c jetstream.Config) (stream, error) {
	if c.Name == checkpoint.KVStream {
		return jetstream.OpenKV(ctx, c)
	}
	return jetstream.OpenLog(ctx, c)
}

// carry makes a stream of another one's copy.
func carry(ctx context.Context, source stream, into jetstream.Config) error {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := source.Copy(ctx, w)
		_ = w.CloseWithError(err) // never fails
		ended <- err
	}()
	_, err := jetstream.Restore(ctx, into, r)
	_ = r.CloseWithError(io.ErrClosedPipe) // never fails
	if copying := <-ended; !errors.Is(copying, io.ErrClosedPipe) {
		err = errors.Join(copying, err)
	}
	return err
}
