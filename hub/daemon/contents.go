package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/checkpoint"
	"rackboot/hub/contents"
	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/clock"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
)

// filesStream is the stream that has the contents of uploaded files, beside the store's.
const filesStream = "rackboot-files"

// openContents makes what keeps contents on the servers of the store; nil of a hub whose store is in its folder.
// Its stream is opened later: no hold waits for it.
func (h *hub) openContents(c Config, at place) (*contents.Room, error) {
	if at.bulk.Conn == nil || h.store.Lost() != nil { // what was lost may name what would be removed
		return nil, h.reg.Register(contents.Alone())
	}
	bucket, err := jetstream.NewBucket(at.bulk)
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

// namedContents are the contents that a store names, and by what; what documents name besides is made anew from these.
func namedContents(st *store.Store) map[string]string {
	out := map[string]string{}
	for digest := range st.BootImages.Files() {
		out[digest] = "a file of a boot image"
	}
	for digest := range iso.Programs(st.AgentPackages) {
		out[digest] = "a program of a package of agents"
	}
	for _, f := range st.ISOs.List() {
		out[f.Digest] = f.File
	}
	return out
}

// broughtContents are the contents that came from the servers into the folder of a hub that does not run, and those that
// did not, with the reason.
type broughtContents struct {
	came    int
	lacking []string
}

// bringContents fetches what the folder lacks of what the store on the servers names.
func (c Config) bringContents(ctx context.Context, far place, log *slog.Logger) (out broughtContents, err error) {
	kv, facts, err := checkpoint.OpenStreams(ctx, far.streams)
	if err != nil {
		return out, err
	}
	st, err := store.Open(ctx, store.Config{KV: kv, Log: facts, Clock: clock.Now, NewID: newID, Logger: log, Lost: &heads.Loss{}}) // so that nothing is mended
	if err != nil {
		return out, err
	}
	named := namedContents(st)
	if len(named) == 0 {
		return out, nil
	}
	bucket, err := jetstream.OpenBucket(ctx, far.bulk)
	if err != nil {
		return out, err
	}
	reg := prometheus.NewRegistry()
	room, err := contents.New(contents.Config{Store: st, Bucket: bucket, Clock: clock.Now, NewID: newID, Logger: log, Registerer: reg})
	if err != nil {
		return out, err
	}
	all := map[string]bool{}
	for digest := range named {
		all[digest] = true
	}
	needed := func() (map[string]bool, error) { return all, nil }
	shelf, err := iso.Open(iso.Config{Dir: c.isosDir(), Quota: c.ISOs.quota(), MinFree: c.ISOs.minFree(), Store: st, Needed: needed, Clock: clock.Now, Logger: log, Registerer: reg})
	if err != nil {
		return out, err
	}
	room.Serve(shelf)
	came, lacking, err := room.Bring(ctx)
	out.came = came
	for digest, why := range lacking {
		out.lacking = append(out.lacking, fmt.Sprintf("%s (%s): %s", named[digest], digest, why))
	}
	slices.Sort(out.lacking)
	return out, errors.Join(err, shelf.Close())
}

// uploaded looks whether each content that the store on servers names is in the hub's folder or whole on the servers.
func (k *checking) uploaded(st *store.Store, at place) error {
	there, err := jetstream.Exists(k.ctx, at.bulk)
	if err != nil {
		return err
	}
	var bucket *jetstream.Bucket
	if there {
		if bucket, err = jetstream.OpenBucket(k.ctx, at.bulk); err != nil {
			k.say(FoundStore, "store/"+filesStream, cmp.Or(protocol.HintOf(err), noteRestore), "%s", err)
			return nil
		}
	}
	named := namedContents(st)
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		here := exists(filepath.Join(k.c.isosDir(), "content", strings.TrimPrefix(digest, "sha256:")))
		c, err := st.Contents.Get(digest)
		whole := err == nil && bucket != nil && c.State == store.ContentWhole && c.Bucket == bucket.ID()
		if !whole {
			if !here {
				k.say(FoundLacking, named[digest], "upload it again, or start the hub that has it in its folder", "%s is neither in the folder nor on the servers", digest)
			}
			continue
		}
		lack, err := bucket.Lacks(k.ctx, digest, c.Size)
		if err != nil {
			return err
		}
		if lack > 0 && !here {
			k.say(FoundLacking, named[digest], "upload it again, or start the hub that has it in its folder", "%d pieces of %s are not on the servers, and it is not in the folder", lack, digest)
		}
	}
	return nil
}
