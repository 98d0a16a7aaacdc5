package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rackboot/hub/checkpoint"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// beatsError is a hub that works on a store.
type beatsError struct{ hub store.Hub }

func (e *beatsError) Error() string {
	return fmt.Sprintf("hub %s at %s works on it", e.hub.Name, e.hub.API)
}

// silence waits, where there are any hubs, to see whether one beats, and returns those that have not. The error is a
// beatsError of the first that has, or that of reading.
func silence(ctx context.Context, before []store.Hub, newest func(context.Context, string) (store.Hub, error), wait time.Duration) (silent []store.Hub, err error) {
	if len(before) == 0 {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(wait):
	}
	for _, was := range before {
		u, err := newest(ctx, was.Name)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound: // it has ended meanwhile
		case err != nil:
			return nil, err
		case u.Revision != was.Revision:
			return nil, &beatsError{u}
		default:
			silent = append(silent, u)
		}
	}
	return silent, nil
}

// offlineWait is how long a hub must be silent for what is done while all are stopped: longer than hubs give each other,
// because nobody waits for it.
const offlineWait = hubs.DeadAfter + hubs.BeatEvery

// deserted refuses servers on which a hub works that shares its store: the lock of a folder says nothing of one on another
// host. One without broker.url does not say there that it works. Errors: conflict, unavailable, timeout.
func deserted(ctx context.Context, streams jetstream.Config) error {
	streams.Name = checkpoint.KVStream
	if there, err := jetstream.Exists(ctx, streams); err != nil || !there {
		return err
	}
	kv, err := jetstream.OpenKV(ctx, streams)
	if err != nil {
		return err
	}
	return quiet(ctx, kv)
}

func quiet(ctx context.Context, kv state.KV) error {
	before, err := store.HubsIn(ctx, kv)
	if err != nil {
		return err
	}
	_, err = silence(ctx, before, func(ctx context.Context, name string) (store.Hub, error) { return store.HubIn(ctx, kv, name) }, offlineWait)
	if busy, is := errors.AsType[*beatsError](err); is {
		return protocol.Errorf(protocol.CodeConflict, "use the hub's store, which no hub may use meanwhile", "%w", busy).
			WithHint("stop the hubs on all hosts, and run this again")
	}
	return err
}
