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
	"rackboot/hub/registry"
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

// namedImages are the contents that the registry of all hubs names, and by which repository.
func namedImages(st *store.Store) (map[string]string, error) {
	all, err := st.Repositories.List()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range all {
		for digest, m := range r.Manifests {
			for _, needed := range append(slices.Clone(m.Names), digest) {
				out[needed] = "image/" + r.Name
			}
		}
	}
	return out, nil
}

// filesFolder is a hub's folder of uploaded files, and that of its registry.
type filesFolder struct {
	dir            string
	quota, minFree int64 // bytes
	images         imagesFolder
}

// imagesFolder is the folder of a hub's registry; without a dir it has none.
type imagesFolder struct {
	dir            string
	quota, minFree int64 // bytes
}

// open opens it as that of a hub that shares a store, and does not run.
func (f imagesFolder) open(st *store.Store, log *slog.Logger) (*registry.Registry, error) {
	return registry.Open(registry.Config{
		Dir: f.dir, Quota: f.quota, MinFree: f.minFree, Clock: clock.Now, Logger: log, Registerer: prometheus.NewRegistry(),
		Shared: &registry.Shared{Book: st.Repositories, Contents: st.Contents},
	})
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
	all := map[string]bool{}
	for digest := range named {
		all[digest] = true
	}
	images, err := namedImages(st)
	if err != nil {
		return out, err
	}
	if f.images.dir != "" {
		maps.Copy(named, images)
	}
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
	needed := func() (map[string]bool, error) { return all, nil }
	shelf, err := iso.Open(iso.Config{Dir: f.dir, Quota: f.quota, MinFree: f.minFree, Store: st, Needed: needed, Clock: clock.Now, Logger: log, Registerer: reg})
	if err != nil {
		return out, err
	}
	shelves := []contents.Shelf{contents.Uploads(shelf)}
	closed := shelf.Close
	if f.images.dir != "" {
		own, err := f.images.open(st, log)
		if err != nil {
			return out, errors.Join(err, shelf.Close())
		}
		shelves, closed = append(shelves, own.Shelf()), func() error { return errors.Join(own.Close(), shelf.Close()) }
	}
	room.Serve(shelves...)
	came, lacking, err := room.Bring(ctx)
	out.came = came
	for digest, why := range lacking {
		out.lacking = append(out.lacking, fmt.Sprintf("%s (%s): %s", named[digest], digest, why))
	}
	slices.Sort(out.lacking)
	return out, errors.Join(err, closed())
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
	images, err := namedImages(st)
	if err != nil {
		return nil, err
	}
	maps.Copy(named, images)
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		dir := filepath.Join(f.dir, "content")
		if images[digest] != "" && f.images.dir != "" {
			dir = filepath.Join(f.images.dir, "blobs")
		}
		if _, err := os.Stat(filepath.Join(dir, strings.TrimPrefix(digest, "sha256:"))); err == nil {
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
