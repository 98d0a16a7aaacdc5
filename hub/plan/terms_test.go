package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A hold travels with all of its terms, also to an agent that heeds none of them:
// what counts most is that it is held.
func TestTermsTravel(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	f := makeFleet(1, 2)
	f.Now = now
	h := holdOn("h1", "n0000", "r0", false)
	h.Spec = resource.HoldSpec{
		Server:    "n0000",
		Owner:     "o",
		HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard, SoftTimeout: protocol.Duration(time.Minute), Reason: "why", Ref: "ref", TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease, ForceDuringFirmware: true},
	}
	h.Status.ConfirmedDown = &resource.Confirmation{By: "admin", Reason: "burnt", At: now}
	gone := holdOn("h2", "n0001", "r0", true)
	gone.Status.ReleasedBy, gone.Status.ReleaseReason = "admin", "owner is gone"
	f.Holds = []*resource.Hold{h, gone}
	work := &resource.FirmwareWork{By: "admin", Reason: "BIOS", Since: now, NotAfter: now.Add(time.Minute)}
	f.Servers[0].Status.Firmware = work
	want := resource.ActiveHold{
		ID:            "h1",
		HoldSpec:      resource.HoldSpec{Server: "n0000", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard, SoftTimeout: protocol.Duration(time.Minute), Reason: "why", Ref: "ref", TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease, ForceDuringFirmware: true}},
		ConfirmedDown: h.Status.ConfirmedDown,
	}
	for _, row := range []struct {
		name     string
		peer     Peer
		unheeded int
	}{
		{"not greeted yet", Peer{}, 0},
		{"of this release", Peer{Incarnation: "a", Capabilities: message.Capabilities()}, 0},
		{"too old", Peer{Incarnation: "a", Capabilities: few()}, 3},
	} {
		f.Peers = map[string]Peer{"r0-1": row.peer}
		d := Compile(f)["r0-1"]
		if diff := cmp.Diff([]resource.ActiveHold{want}, d.Holds.Holds); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
		if r := d.Holds.Releases; len(r) != 1 || r[0].By != "admin" || r[0].Reason != "owner is gone" {
			t.Errorf("%s: %+v", row.name, r)
		}
		if in := d.Racks[0].Servers[0]; in.Firmware != work {
			t.Errorf("%s: %+v", row.name, in.Firmware)
		}
		if got := d.Unheeded["n0000"]; len(got) != row.unheeded || len(d.Unheeded["n0001"]) > 0 {
			t.Errorf("%s: %q", row.name, d.Unheeded)
		}
	}
	f.Now = now.Add(time.Minute)
	if in := Compile(f)["r0-1"].Racks[0].Servers[0]; in.Firmware != nil {
		t.Errorf("work that ended travels: %+v", in.Firmware)
	}
}

// A hold that was placed while a claim went keeps its server from the next one (V14).
func TestHeldServerIsNotInherited(t *testing.T) {
	f := makeFleet(1, 2)
	for range 7 {
		f.Holds = append(f.Holds, holdOn("h1", "n0000", "r0", false))
	}
	c := named(&resource.Claim{Spec: resource.ClaimSpec{ServerRef: &resource.Ref{Name: "n0000"}}}, "c1")
	f.Wanting = []*resource.Claim{c}
	bound, unbound := Bind(f)
	if len(bound) != 0 || len(unbound) != 1 || !strings.Contains(unbound[0].Reason, `held off by "" (key "k"), `) || !strings.HasSuffix(strings.Split(unbound[0].Reason, ";")[0], "others") {
		t.Fatalf("%+v, %+v", bound, unbound)
	}
	for _, h := range f.Holds {
		h.Status.ReleasedAt = &f.Now
	}
	if bound, unbound = Bind(f); len(bound) != 1 || len(unbound) != 0 {
		t.Errorf("%+v, %+v", bound, unbound)
	}
}
