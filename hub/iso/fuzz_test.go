package iso

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Whatever a caller says, an upload stays in its folder, and what is in the book is what
// was said and checked.
func FuzzUpload(f *testing.F) {
	content := archive(f, "a")
	good, err := json.Marshal(request("A.iso", content))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(good), `{}`, `{"file":"../../etc/passwd","digest":"sha256:x","size":-1}`, `{"file":"a\u202eb","size":1e3}`, `{"signature":"eA==","scheme":"x"}`} {
		f.Add([]byte(s), int64(0), content)
	}
	f.Fuzz(func(t *testing.T, raw []byte, offset int64, body []byte) {
		var r protoapi.ISOUploadRequest
		if json.Unmarshal(raw, &r) != nil {
			return
		}
		s := newSite(t, nil)
		u, err := s.Begin(t.Context(), r, "ann")
		if err != nil {
			if protocol.CodeOf(err) == protocol.CodeInternal {
				t.Fatal(err)
			}
			return
		}
		if filepath.Base(s.uploads.path(u.ID)) != u.ID+".json" || !resource.ValidISOFile(u.File) {
			t.Fatalf("%q, %q", u.ID, u.File)
		}
		if now, err := s.Append(t.Context(), u.ID, offset, bytes.NewReader(body)); err == nil && (offset != 0 || now.Offset != int64(len(body)) || now.Offset > r.Size) {
			t.Fatalf("%+v of %d bytes at %d", now, len(body), offset)
		}
		g, err := s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: r.File})
		if err == nil && (g.File != r.File || g.Uploaded != digestOf(body)) {
			t.Fatalf("%+v", g)
		}
		if protocol.CodeOf(err) == protocol.CodeInternal {
			t.Fatal(err)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"debian.iso", "..", "a/b", "\x00", "ä", ".x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if resource.ValidISOFile(name) && (filepath.Base(name) != name || !filepath.IsLocal(name) || len(name) > 255) {
			t.Fatalf("%q is no one element", name)
		}
	})
}
