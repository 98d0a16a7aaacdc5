package store

import (
	"fmt"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// A store that was written before there were rules, and one whose keys somebody has damaged, have them
// when they are opened; one that is right is not written.
func TestRulesAreMended(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	site := storetest.Site()
	site[4].(*resource.Server).Spec.SystemURI = "/redfish/v1/Systems/1"
	third := storetest.Server("n3", "b1", "boot", "52:54:00:00:00:03")
	third.Spec.SystemURI = "/redfish/v1/Systems/2"
	apply(t, s, append(site, third)...)
	if _, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	rules := func() (out []state.Entry) {
		all, _, err := mem.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if wrong := broken(all); len(wrong) > 0 {
			t.Error(wrong)
		}
		for _, e := range all {
			if aside(e.Key) {
				out = append(out, e)
			}
		}
		return out
	}
	right := rules()
	mem.BeforeWrite = func(key string) error { return fmt.Errorf("%s is written", key) }
	open(t, mem)
	mem.BeforeWrite = nil
	for _, e := range right {
		if err := mem.Delete(t.Context(), e.Key, e.Revision); err != nil {
			t.Fatal(err)
		}
	}
	open(t, mem)
	mended := rules()
	if len(mended) != len(right) || len(right) != 6 { // three addresses, two BMCs, a hold
		t.Fatalf("%d keys, were %d", len(mended), len(right))
	}
	for i, e := range mended {
		if e.Key != right[i].Key || string(e.Value) != string(right[i].Value) {
			t.Errorf("%s %s, was %s %s", e.Key, e.Value, right[i].Key, right[i].Value)
		}
	}
	// Somebody's who is not there, and somebody else's.
	if _, err := mem.Create(t.Context(), "rule.mac.525400000009", []byte(`[{"kind":"Server","name":"gone"}]`)); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.Update(t.Context(), mended[0].Key, []byte(`[{"kind":"Server","name":"gone"}]`), mended[0].Revision); err != nil {
		t.Fatal(err)
	}
	open(t, mem)
	rules()
}

// What two have, in a store in which that could be, stays so and is said; nobody else gets it.
func TestMendingTakesNothingAway(t *testing.T) {
	mem := storetest.NewMemory()
	apply(t, open(t, mem), storetest.Site()...)
	e, err := mem.Get(t.Context(), "res.servers.n1")
	if err != nil {
		t.Fatal(err)
	}
	n, err := decode(resource.KindServer, e)
	if err != nil {
		t.Fatal(err)
	}
	n.(*resource.Server).Spec.BootMAC = "52:54:00:00:00:02"
	value, err := encode(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mem.Update(t.Context(), e.Key, value, e.Revision); err != nil {
		t.Fatal(err)
	}
	s := open(t, mem)
	_, err = s.Sets.Apply(t.Context(), []resource.Object{storetest.BMC("b3", "r1"), storetest.Server("n3", "b3", "boot", "52:54:00:00:00:02")}, ApplyOptions{})
	wantCode(t, err, protocol.CodeInvalid)
	apply(t, s, storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01"))
	if entries, _, _ := mem.List(t.Context(), ""); len(broken(entries)) > 0 {
		t.Error(broken(entries))
	}
}
