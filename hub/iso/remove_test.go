package iso

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Whoever would take away what servers boot from is told which.
func TestRemove(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, "a")
	s.uploaded(request("arm.iso", content), content)
	s.uploaded(request("other.iso", content), content)
	config := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "r1-n3", Owner: resource.Owner{UID: "u"}, BootEnv: "debian-12"}}
	config.Metadata.Name = "n3"
	config.Default()
	s.put(env("debian-12", "arm.iso", ""), config)
	item, err := s.Remove(t.Context(), "arm.iso", false, "bob")
	wants(t, "in use", err, protocol.CodeConflict, "debian-12", "r1-n3")
	if len(item.BootEnvs) != 1 || len(item.Servers) != 1 || protocol.HintOf(err) == "" {
		t.Errorf("%+v", item)
	}
	if _, err := s.Remove(t.Context(), "other.iso", false, "bob"); err != nil {
		t.Error(err)
	}
	if _, err := s.Remove(t.Context(), "arm.iso", true, "bob"); err != nil {
		t.Error(err)
	}
	_, err = s.Remove(t.Context(), "arm.iso", true, "bob")
	wants(t, "again", err, protocol.CodeNotFound)
	if len(s.events) != 4 {
		t.Errorf("%q", s.events)
	}
}

// A content goes when nothing has named it for a while: no name, no upload, no document.
func TestCollect(t *testing.T) {
	content, packed := archive(t, "a"), archive(t, "b")
	for _, row := range []struct {
		name string
		hold func(*site)
		goes bool
	}{
		{"nothing", func(*site) {}, true},
		{"another name", func(s *site) { s.uploaded(request("B.iso", content), content) }, false},
		{"an upload", func(s *site) {
			if _, err := s.Begin(t.Context(), request("B.iso", content), "ann"); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a document", func(s *site) { s.needed[digestOf(content)] = true }, false},
		{"documents cannot be read", func(s *site) { s.broken = errors.New("unknown key") }, false},
		{"a replaced file, and a document", func(s *site) {
			r := request("A.iso", packed)
			r.Replace = true
			s.uploaded(r, packed)
			s.needed[digestOf(content)] = true
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, nil)
			s.uploaded(request("A.iso", content), content)
			row.hold(s)
			if f, err := s.store.ISOs.Get("A.iso"); err == nil && f.Digest == digestOf(content) {
				if _, err := s.Remove(t.Context(), "A.iso", false, "ann"); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				s.removal.collect()
				if !s.blobs.Has(digestOf(content)) {
					t.Fatal("it goes at once: a document may be on its way")
				}
				s.now = s.now.Add(collectAfter/2 - time.Second)
			}
			s.now = s.now.Add(time.Minute)
			s.removal.collect()
			if s.blobs.Has(digestOf(content)) == row.goes {
				t.Errorf("there: %t", !row.goes)
			}
		})
	}
	// Named again before its time: the wait begins anew.
	s := newSite(t, nil)
	s.uploaded(request("A.iso", content), content)
	if _, err := s.Remove(t.Context(), "A.iso", false, "ann"); err != nil {
		t.Fatal(err)
	}
	s.removal.collect()
	s.now = s.now.Add(collectAfter - time.Second)
	s.needed[digestOf(content)] = true
	s.removal.collect()
	delete(s.needed, digestOf(content))
	s.now = s.now.Add(time.Minute)
	s.removal.collect()
	if !s.blobs.Has(digestOf(content)) {
		t.Error("the wait did not begin anew")
	}
}

// What came of uploads whose record is gone is not kept for ever.
func TestCollectParts(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, "a")
	u, err := s.Begin(t.Context(), request("A.iso", content), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), u.ID, 0, bytes.NewReader(content[:100])); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if err := s.uploads.forget(u.ID); err != nil {
		t.Fatal(err)
	}
	s.removal.collect()
	if len(s.blobs.Parts()) != 1 {
		t.Error("gone at once")
	}
	s.now = s.now.Add(collectAfter)
	s.removal.collect()
	if len(s.blobs.Parts()) != 0 {
		t.Errorf("left: %v", s.blobs.Parts())
	}
}

// The hub's folder was lost, the book was not: the same upload brings the content back.
func TestMissing(t *testing.T) {
	s := newSite(t, nil)
	content := archive(t, "a")
	f := s.uploaded(request("A.iso", content), content)
	if err := s.blobs.Remove(f.Digest); err != nil {
		t.Fatal(err)
	}
	if item, err := s.Get("A.iso"); err != nil || !item.Missing {
		t.Errorf("%+v, %v", item, err)
	}
	s.uploaded(request("A.iso", content), content)
	if item, err := s.Get("A.iso"); err != nil || item.Missing {
		t.Errorf("%+v, %v", item, err)
	}
	if _, err := s.Get("B.iso"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
}
