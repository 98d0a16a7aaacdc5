package view

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// Who is in a rack is the same, whether all are asked for or one: also where a rack or a BMC is lost, as after a disk was.
func TestInRacksIsInRack(t *testing.T) {
	mem, ids := storetest.NewMemory(), 0
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { ids++; return fmt.Sprintf("id%d", ids) }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	set := []resource.Object{storetest.Rack("r1"), storetest.Segment("s1", "r1"), storetest.Rack("r2"), storetest.Segment("s2", "r2")}
	for i := range 4 {
		rack, name := i%2+1, fmt.Sprintf("n%d", i)
		set = append(set, storetest.BMC(name, fmt.Sprintf("r%d", rack)), storetest.Server(name, name, fmt.Sprintf("s%d", rack), fmt.Sprintf("52:54:00:00:00:%02x", i)))
	}
	if _, err := s.Sets.Apply(t.Context(), set, store.ApplyOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []struct {
		key  string
		want int
	}{{"", 4}, {"res.bmcs.n0", 3}, {"res.racks.r2", 1}, {"res.servers.n2", 0}} {
		if lost.key != "" {
			lose(t.Context(), t, mem, lost.key)
			s = open()
		}
		r := New(Config{Store: s})
		in := r.inRacks()
		if len(in) != lost.want {
			t.Errorf("without %q %v are in racks", lost.key, in)
		}
		for i := range 5 {
			if name := fmt.Sprintf("n%d", i); in[name] != r.InRack(name) {
				t.Errorf("without %q: %s is in a rack: %t", lost.key, name, r.InRack(name))
			}
		}
	}
}

func lose(ctx context.Context, t *testing.T, mem *storetest.Memory, key string) {
	t.Helper()
	e, err := mem.Get(ctx, key)
	if err == nil {
		err = mem.Delete(ctx, key, e.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
}
