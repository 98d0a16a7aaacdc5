package daemon

import (
	"context"

	"rackboot/hub/contents"
	"rackboot/hub/iso"
	"rackboot/state/clock"
	"rackboot/state/jetstream"
)

// filesStream is the stream that has the contents of uploaded files, beside the store's.
const filesStream = "rackboot-files"

// openContents makes what keeps contents on the servers of the store; nil of a hub whose store is in its folder.
func (h *hub) openContents(ctx context.Context, c Config, at place) (*contents.Room, error) {
	if at.bulk.Conn == nil || h.store.Lost() != nil { // what was lost may name what would be removed
		return nil, h.reg.Register(contents.Alone())
	}
	bucket, err := jetstream.OpenBucket(ctx, at.bulk)
	if err != nil {
		return nil, err
	}
	return contents.New(contents.Config{
		Store: h.store, Bucket: bucket, Quota: c.ISOs.quota(), Works: h.worksSite, Under: h.underSite,
		Clock: clock.Now, NewID: newID, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	})
}

// depot is the room as the shelf asks it.
func depot(r *contents.Room) iso.Depot {
	if r == nil {
		return nil
	}
	return r
}
