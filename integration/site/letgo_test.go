package site

import (
	"strings"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestClaimGoesWithItsHolds: a claim whose server is held is not deleted, unless its
// holds go with it, and then the server stays off throughout. A hold that comes later
// keeps it from the next claim.
func TestClaimGoesWithItsHolds(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	cfg := s.firstAgent()
	s.join(cfg)
	s.startAgent(cfg)
	s.provision()
	ons := func() (n int) {
		for _, h := range s.servers[0].BMC.History() {
			if h.What == bmcsim.RecordReset && h.Detail == "On" {
				n++
			}
		}
		return n
	}
	id := s.place("n1", "k", resource.HoldFenced).Metadata.Name
	before := ons()
	if _, err := s.client.Objects.DeleteClaim(t.Context(), "c-n1", ""); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), id) {
		t.Fatalf("deleted under a hold: %v", err)
	}
	if _, err := s.client.Objects.DeleteClaim(t.Context(), "c-n1", "the rack goes"); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the claim and its hold", func() bool {
		_, claim := get[*resource.Claim](s, "c-n1")
		_, hold := get[*resource.Hold](s, id)
		return !claim && !hold
	}, func() any { return "one of them" })
	s.staysOff(0)
	if n := ons(); n != before {
		t.Errorf("powered on %d times while its claim went", n-before)
	}
	s.untilEvent("who released it", func(e api.EventRecord) bool { return e.Code == resource.EventReleaseAccepted })
	if n := s.events(resource.EventReleaseAccepted); n != 1 {
		t.Errorf("%d releases are on record", n)
	}

	late := s.place("n1", "late", resource.HoldEnforced).Metadata.Name
	s.apply(s.claim("n1"))
	s.until("the claim that waits for the hold", func() bool {
		c, ok := get[*resource.Claim](s, "c-n1")
		return ok && c.Status.Server == "" && len(c.Status.Conditions) > 0 && c.Status.Conditions[0].Code == resource.CondUnbound &&
			strings.Contains(c.Status.Conditions[0].Message, `"late"`)
	}, func() any { c, _ := get[*resource.Claim](s, "c-n1"); return c })
	s.staysOff(0)
	if _, err := s.client.Holds.Release(t.Context(), late, api.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	s.until("the bound claim", func() bool { c, ok := get[*resource.Claim](s, "c-n1"); return ok && c.Status.Server == "n1" }, func() any { return "none" })
}
