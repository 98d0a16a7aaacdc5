package store

import (
	"fmt"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// A subscriber has each change, in order, with what was there before, also where it is one of
// several that were written at once.
func TestDeltas(t *testing.T) {
	s := open(t, storetest.NewMemory())
	d, stop := s.Deltas()
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{storetest.Rack("r1"), storetest.BMC("b1", "r1")}, ApplyOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	moved := storetest.Rack("r1")
	moved.Spec.SoftTimeout *= 2
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{moved}, ApplyOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Ledgers.Put(t.Context(), &Ledger{Agent: "a1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), resource.KindBMC, "b1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-d.Ready():
	default:
		t.Error("nobody was told")
	}
	var got []string
	list, lost := d.Take()
	for _, x := range list {
		got = append(got, fmt.Sprintf("%s%s %s %t>%t", x.Kind, x.Beside, x.Name, x.Old != nil, x.Now != nil))
	}
	want := "[Rack r1 false>true BMC b1 false>true Rack r1 true>true ledger a1 false>false BMC b1 true>true BMC b1 true>false]" // it was closed first
	if fmt.Sprint(got) != want || lost {
		t.Errorf("%v, want %s; lost %t", got, want, lost)
	}
	if list, _ := d.Take(); len(list) > 0 {
		t.Errorf("twice: %v", list)
	}
	stop()
	if err := s.Ledgers.Put(t.Context(), &Ledger{Agent: "a2"}); err != nil {
		t.Fatal(err)
	}
	if list, _ := d.Take(); len(list) > 0 {
		t.Errorf("after the end: %v", list)
	}
}

// Who takes nothing for long is told that it missed something, and what is kept has a bound.
func TestDeltasAreBounded(t *testing.T) {
	d := &Deltas{ready: make(chan struct{}, 1)}
	for range 3*maxDeltas + 7 {
		d.add(Delta{})
	}
	if list, lost := d.Take(); len(list) > maxDeltas || !lost {
		t.Errorf("%d are kept, lost %t", len(list), lost)
	}
	if _, lost := d.Take(); lost {
		t.Error("it was said already")
	}
}
