package decide

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What is told of a change is what was trusted and what is read, for as long as nobody has accepted it.
func TestIdentityChange(t *testing.T) {
	was, is := Identity{Serial: "S1", MACs: []string{"52:54:00:00:00:01"}}, Identity{Serial: "S2", UUID: "u", MACs: []string{"52:54:00:00:00:02"}}
	for _, k := range []*Known{nil, {Trusted: was}} {
		if c := k.Change(); c != nil {
			t.Errorf("%+v tells %+v", k, c)
		}
	}
	got := (&Known{Trusted: was, Other: &is, At: at(time.Hour)}).Change()
	want := &resource.IdentityChange{
		Was: resource.BoardIdentity{Serial: "S1", MACs: was.MACs}, Is: resource.BoardIdentity{Serial: "S2", UUID: "u", MACs: is.MACs}, At: at(time.Hour),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it tells %+v, want %+v", got, want)
	}
	if words := got.Words(); !slices.Equal(words, []string{"serial number: S1 -> S2", "UUID: not shown -> u", "MAC addresses: 52:54:00:00:00:01 -> 52:54:00:00:00:02"}) {
		t.Errorf("in words: %q", words)
	}
}
