package store

import (
	"fmt"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// manyServers are n servers, of which the addresses begin with the one of number first.
func manyServers(n, first int) []resource.Object {
	set := []resource.Object{storetest.Rack("r1"), storetest.Segment("boot", "r1")}
	for i := range n {
		at := (i + first) % n
		set = append(set, storetest.BMC(fmt.Sprintf("b%d", i), "r1"),
			storetest.Server(fmt.Sprintf("n%d", i), fmt.Sprintf("b%d", i), "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", at/256, at%256)))
	}
	return set
}

// The first and the last of a set that is written in parts exchange their addresses: both are in one part.
// More exchanges than a commit takes are refused, and change nothing.
func TestExchangesAreInOnePart(t *testing.T) {
	const n = 600
	mem := storetest.NewMemory()
	s := open(t, mem)
	apply(t, s, manyServers(n, 0)...)
	set := manyServers(n, 0)
	for _, obj := range set {
		obj.Head().Metadata.Labels = map[string]string{"round": "two"}
	}
	first, last := set[3].(*resource.Server), set[len(set)-1].(*resource.Server)
	first.Spec.BootMAC, last.Spec.BootMAC = last.Spec.BootMAC, first.Spec.BootMAC
	for _, r := range apply(t, s, set...) {
		if r.Outcome != Configured {
			t.Fatalf("%s %s was %s", r.Kind, r.Name, r.Outcome)
		}
	}
	_, revision, err := mem.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Sets.Apply(t.Context(), manyServers(n, 1), ApplyOptions{})
	wantCode(t, err, protocol.CodeInvalid)
	entries, now, err := mem.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if wrong := broken(entries); len(wrong) > 0 {
		t.Error(wrong)
	}
	if now != revision {
		t.Errorf("%d revisions were written", now-revision)
	}
}
