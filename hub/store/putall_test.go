package store

import (
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Several resources are put at once, with their rules; where one of them cannot be, none is.
func TestPutAll(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, append(storetest.Site(), storetest.BMC("b3", "r1"), storetest.Server("n3", "b3", "boot", "52:54:00:00:00:03"))...)
	bound := func(claim, server string) resource.Object {
		t.Helper()
		if _, err := s.Objects.Get(resource.KindClaim, claim); err != nil {
			apply(t, s, storetest.Claim(claim, server))
		}
		c, err := Get[*resource.Claim](s.Objects, claim)
		if err != nil {
			t.Fatal(err)
		}
		c.Status.Server = server
		return c
	}
	list := []resource.Object{bound("c1", "n1"), bound("c2", "n2")}
	if err := s.Objects.PutAll(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		c, err := Get[*resource.Claim](s.Objects, o.Head().Metadata.Name)
		if err != nil || c.Status.Server == "" || c.Metadata.Revision != o.Head().Metadata.Revision {
			t.Errorf("%+v, %v", c, err)
		}
	}
	again, other := bound("c3", "n1"), bound("c4", "n3") // n1 is that of c1
	if err := s.Objects.PutAll(t.Context(), []resource.Object{other, again}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a server that has a claim: %v", err)
	}
	if c, err := Get[*resource.Claim](s.Objects, "c4"); err != nil || c.Status.Server != "" {
		t.Errorf("half of it was written: %+v, %v", c, err)
	}
	if err := s.Objects.PutAll(t.Context(), []resource.Object{storetest.Claim("new", "n1")}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("one that is not stored: %v", err)
	}
}
