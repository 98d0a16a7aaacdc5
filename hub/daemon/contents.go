package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/checkpoint"
	"rackboot/hub/contents"
	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/state/clock"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
)

// filesStream is the stream that has the contents of uploaded files, beside the store's.
const filesStream = "rackboot-files"

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

// filesFolder is a hub's folder of uploaded files.
type filesFolder struct {
	dir            string
	quota, minFree int64 // bytes
}

// bring fetches what the folder lacks of what the store on servers names. bulk is where contents are.
func (f filesFolder) bring(ctx context.Context, streams, bulk jetstream.Config, log *slog.Logger) (out broughtContents, err error) {
	kv, facts, err := checkpoint.OpenStreams(ctx, streams)
	if err != nil {
		return out, err
	}
	id := func() string { return "" }                                                                                           // nothing is written
	st, err := store.Open(ctx, store.Config{KV: kv, Log: facts, Clock: clock.Now, NewID: id, Logger: log, Lost: &heads.Loss{}}) // so that nothing is mended
	if err != nil {
		return out, err
	}
	named := namedContents(st)
	if len(named) == 0 {
		return out, nil
	}
	bulk.MaxBytes = f.quota
	bucket, err := jetstream.NewBucket(bulk)
	if err != nil {
		return out, err
	}
	reg := prometheus.NewRegistry()
	room, err := contents.New(contents.Config{Store: st, Bucket: bucket, Clock: clock.Now, NewID: id, Logger: log, Registerer: reg})
	if err != nil {
		return out, err
	}
	all := map[string]bool{}
	for digest := range named {
		all[digest] = true
	}
	needed := func() (map[string]bool, error) { return all, nil }
	shelf, err := iso.Open(iso.Config{Dir: f.dir, Quota: f.quota, MinFree: f.minFree, Store: st, Needed: needed, Clock: clock.Now, Logger: log, Registerer: reg})
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

// lackingContent is one that is neither in a hub's folder nor whole on the servers.
type lackingContent struct{ name, why string }

// lacking looks at each content that a store on servers names.
func (f filesFolder) lacking(ctx context.Context, st *store.Store, bulk jetstream.Config) (out []lackingContent, err error) {
	var bucket *jetstream.Bucket
	bulk.MaxBytes = f.quota
	there, err := jetstream.Exists(ctx, bulk)
	if err == nil && there {
		bucket, err = jetstream.OpenBucket(ctx, bulk)
	}
	if err != nil {
		return nil, err
	}
	named := namedContents(st)
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		_, err := os.Stat(filepath.Join(f.dir, "content", strings.TrimPrefix(digest, "sha256:")))
		if err == nil {
			continue
		}
		c, err := st.Contents.Get(digest)
		if err != nil || bucket == nil || c.State != store.ContentWhole || c.Bucket != bucket.ID() {
			out = append(out, lackingContent{named[digest], digest + " is neither in the folder nor on the servers"})
			continue
		}
		lack, err := bucket.Lacks(ctx, digest, c.Size)
		if err != nil {
			return nil, err
		}
		if lack > 0 {
			out = append(out, lackingContent{named[digest], fmt.Sprintf("%d pieces of %s are not on the servers, and it is not in the folder", lack, digest)})
		}
	}
	return out, nil
}
