package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/state/file"
	"rackboot/state/jetstream"
)

// The server of the store drops what it cannot read: where a block of a stream is damaged
// or missing, it opens what is left, and says so in its own log only. A hub on such a store
// would tell agents that holds were never placed, and that claims are gone. So how much the
// store had stands beside it, and a store that has less is not opened.

const (
	// extentFile is in the hub's folder.
	extentFile = "store.extent"
	// extentEvery is how often it is looked whether the store has more. What was written within
	// two of it, and is lost, is not missed.
	extentEvery = 250 * time.Millisecond
)

// measured is a stream of the store.
type measured interface {
	Extent(ctx context.Context) (jetstream.Extent, error)
}

// extents are how much the store's streams had, in a file.
type extents struct {
	path    string
	streams map[string]measured // by name
	log     *slog.Logger
	written map[string]jetstream.Extent
}

// read takes over what was written. A file that says nothing is as good as none: what it
// is for is to know of a loss, and it is written anew.
func (x *extents) read() {
	raw, err := os.ReadFile(x.path)
	if err == nil {
		err = json.Unmarshal(raw, &x.written)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.log.Error("how much the store had cannot be read; a loss would not be noticed", "path", x.path, "err", err)
		x.written = nil
	}
}

// measure asks the store.
func (x *extents) measure(ctx context.Context) (map[string]jetstream.Extent, error) {
	now := map[string]jetstream.Extent{}
	for name, s := range x.streams {
		e, err := s.Extent(ctx)
		if err != nil {
			return nil, err
		}
		now[name] = e
	}
	return now, nil
}

// check refuses a store that has less than it had. Errors: conflict, and those of the
// store.
func (x *extents) check(ctx context.Context) error {
	x.read()
	now, err := x.measure(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.written)) {
		was, is := x.written[name], now[name]
		if !is.Covers(was) {
			return protocol.Errorf(protocol.CodeConflict, "open the hub's store", "it has lost what was acknowledged: of %s there are %d entries up to %d, and there were %d up to %d",
				name, is.Messages, is.Sequence, was.Messages, was.Sequence).
				WithHint("the disk lost or damaged files of the store: put the newest copy of the hub's folder in its place. To go on with what is left: rackboot-hub restored")
		}
	}
	return nil
}

// accept takes what is there for all that there is.
func (x *extents) accept(ctx context.Context) error {
	now, err := x.measure(ctx)
	if err != nil {
		return err
	}
	return x.write(now)
}

// follow writes how much there is, until ctx ends, and then once more. What it writes was so a
// look before, with a store that has been healthy since.
func (x *extents) follow(ctx context.Context, healthy func() error) error {
	tick := time.NewTicker(extentEvery)
	defer tick.Stop()
	var before map[string]jetstream.Extent
	said := false
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			now, err := x.measure(last)
			if err != nil || healthy() != nil || x.less(now) {
				return nil
			}
			return x.write(now)
		case <-tick.C:
		}
		now, err := x.measure(ctx)
		if err != nil || healthy() != nil {
			before = nil // what is wrong is said by who looks at the store's health
			continue
		}
		if settled := before; settled != nil && !maps.Equal(settled, x.written) {
			switch less := x.less(settled); {
			case less && !said:
				said = true
				x.log.Error("the store has less than it had", "now", settled, "was", x.written, "hint", "keep a copy of the hub's folder; the next start is refused")
			case !less:
				if err := x.write(settled); err != nil {
					x.log.Warn("how much the store has was not written", "err", err)
				}
			}
		}
		before = now
	}
}

// less reports whether a stream has less than was written of it.
func (x *extents) less(now map[string]jetstream.Extent) bool {
	for name, was := range x.written {
		if !now[name].Covers(was) {
			return true
		}
	}
	return false
}

// write replaces the file.
func (x *extents) write(now map[string]jetstream.Extent) error {
	raw, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := file.Replace(x.path, append(raw, '\n'), 0o600); err != nil {
		return err
	}
	x.written = now
	return nil
}
