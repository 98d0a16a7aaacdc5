package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// A rack has as many servers as one agent, however they come; those that it has may change.
func TestRackIsFull(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Rack("r1"), storetest.Rack("r2"), storetest.Segment("s1", "r1"), storetest.Segment("s2", "r2"))
	servers := func(rack, segment string, from, n int) (objs []resource.Object) {
		for i := from; i < from+n; i++ {
			name := fmt.Sprintf("n%d", i)
			objs = append(objs, storetest.BMC("b"+name, rack), storetest.Server(name, "b"+name, segment, fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255)))
		}
		return objs
	}
	const most = resource.MaxServersPerRack
	apply(t, s, servers("r1", "s1", 0, most-1)...)
	_, err := s.Sets.Apply(t.Context(), servers("r1", "s1", most-1, 3), ApplyOptions{})
	var bad ApplyErrors
	if !errors.As(err, &bad) || len(bad) != 2 || bad[0].Name != "n2000" || !strings.Contains(err.Error(), "2000") {
		t.Fatalf("three more than one: %v", err)
	}
	apply(t, s, servers("r1", "s1", most-1, 1)...)
	if _, err := s.Sets.Apply(t.Context(), servers("r1", "s1", most, 1), ApplyOptions{}); err == nil {
		t.Error("one more is taken")
	}
	apply(t, s, servers("r2", "s2", most, 1)...)
	old := servers("r1", "s1", 7, 1)[1]
	old.Head().Metadata.Labels = map[string]string{"row": "7"}
	if r := apply(t, s, old); r[0].Outcome != Configured {
		t.Errorf("a change of one that is there: %s", r[0].Outcome)
	}
}
