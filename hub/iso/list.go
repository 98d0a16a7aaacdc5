package iso

import (
	"context"
	"fmt"
	"strings"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// List are the files and the uploads that have not ended, in order of name. The offset of
// an upload that somebody sends to just now is left out.
func (s *Shelf) List(_ context.Context) protoapi.ISOList {
	list := protoapi.ISOList{Items: []protoapi.ISOItem{}}
	for _, f := range s.cfg.Store.ISOs.List() {
		list.Items = append(list.Items, s.item(f.ISOFile))
	}
	there := map[string]int64{}
	for _, p := range s.blobs.Parts() {
		there[p.Digest] = p.Bytes
	}
	for _, u := range s.uploads.all() {
		said := s.uploads.said(u)
		if said.Offset = there[u.Digest]; s.blobs.Has(u.Digest) {
			said.Offset = u.Size
		}
		list.Uploads = append(list.Uploads, said)
	}
	return list
}

// Get is one file. The code is not_found.
func (s *Shelf) Get(file string) (protoapi.ISOItem, error) {
	f, err := s.cfg.Store.ISOs.Get(file)
	if err != nil {
		return protoapi.ISOItem{}, err
	}
	return s.item(f.ISOFile), nil
}

func (s *Shelf) item(f resource.ISOFile) protoapi.ISOItem {
	item := protoapi.ISOItem{ISOFile: f, Missing: !s.there(f.Digest)}
	item.BootEnvs, item.Servers = s.users(f.File)
	return item
}

// there reports whether this hub has a content, or can fetch it.
func (s *Shelf) there(digest string) bool {
	return s.blobs.Has(digest) || s.cfg.Depot != nil && s.cfg.Depot.Whole(digest)
}

// maxNamed bounds the names in an error.
const maxNamed = 10

func some(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// Remove takes a file out of the book, and returns it as it was. One that an environment
// names stays, unless force is set; what was built from it goes on to be served by agents
// that have it. The codes are not_found, conflict, unavailable and timeout.
func (s *Shelf) Remove(ctx context.Context, file string, force bool, by string) (protoapi.ISOItem, error) {
	const op = "remove file"
	f, err := s.cfg.Store.ISOs.Get(file)
	if err != nil {
		return protoapi.ISOItem{}, err
	}
	item := s.item(f.ISOFile)
	if len(item.BootEnvs) > 0 && !force {
		message := fmt.Sprintf("%s is used by BootEnv %s", file, some(item.BootEnvs))
		if len(item.Servers) > 0 {
			message += ", for " + some(item.Servers)
		}
		return item, protocol.Errorf(protocol.CodeConflict, op, "%s", message).
			WithHint("select another environment for them first; --force removes it all the same, and those environments cannot be built anew")
	}
	if err := s.cfg.Store.ISOs.Remove(ctx, f); err != nil {
		return item, err
	}
	s.cfg.Crash.At("hub.iso.removed")
	s.log.Info("file removed", "file", file, "digest", f.Digest, "by", by, "forced", force)
	s.cfg.Event(ctx, fmt.Sprintf("%s was removed by %s: %s", file, by, f.Uploaded))
	return item, nil
}
