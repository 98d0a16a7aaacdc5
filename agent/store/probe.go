package store

import (
	"context"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// Probe writes to an agent's database and reads that again. What it writes is on disk
// when it returns. Errors: unavailable (no room, closed), timeout if ctx ends first.
func Probe(ctx context.Context, db state.Store, now time.Time) error {
	const op = "probe the agent's store"
	value := now.UTC().Format(time.RFC3339Nano)
	if err := db.Batch(ctx, func(t state.Txn) error { return t.Set(probeKey, []byte(value)) }); err != nil {
		return failing(op, err)
	}
	var read []byte
	err := db.View(func(t state.Txn) (err error) {
		read, err = t.Get(probeKey)
		return err
	})
	if err != nil {
		return failing(op, err)
	}
	if string(read) < value { // another probe may be newer
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s was written, and %s was read after it", value, read).
			WithHint("check the disk of the agent's data folder")
	}
	return nil
}
