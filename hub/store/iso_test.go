package store

import (
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A name is one entry: who read another revision of it changes nothing.
func TestISOs(t *testing.T) {
	kv := storetest.NewMemory()
	s := open(t, kv)
	iso := func(file, digest string) ISO {
		return ISO{ISOFile: resource.ISOFile{File: file, Digest: digest, Size: 3}}
	}
	b, a := iso("b.ISO", "sha256:1"), iso("A. name.iso", "sha256:1")
	for _, f := range []*ISO{&b, &a} {
		if err := s.ISOs.Put(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	other := iso("b.ISO", "sha256:2")
	if err := s.ISOs.Put(t.Context(), &other); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("the name was taken twice: %v", err)
	}
	got, err := s.ISOs.Get("b.ISO")
	if err != nil || got != b {
		t.Errorf("%+v, %v", got, err)
	}
	other.Revision = got.Revision
	if err := s.ISOs.Put(t.Context(), &other); err != nil {
		t.Fatal(err)
	}
	if err := s.ISOs.Remove(t.Context(), b); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("another revision was removed: %v", err)
	}
	s = open(t, kv) // as after a restart
	list := s.ISOs.List()
	if len(list) != 2 || list[0].File != "A. name.iso" || list[1] != other {
		t.Errorf("%+v", list)
	}
	if err := s.ISOs.Remove(t.Context(), list[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ISOs.Get("b.ISO"); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("removed: %v", err)
	}
	bad := iso("../etc", "sha256:1")
	if err := s.ISOs.Put(t.Context(), &bad); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a path as a name: %v", err)
	}
}
