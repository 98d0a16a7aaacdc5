package eventlog

import (
	"maps"
	"slices"
	"testing"

	"rackboot/internal/doctable"
)

func TestCoverTable(t *testing.T) {
	byName := map[string]Type{"event type 0x12345678": 0x12345678}
	for kind, name := range typeNames {
		if kind.String() != name {
			t.Errorf("%s is written %s", name, kind)
		}
		byName[name] = kind
	}
	if len(byName) != len(typeNames)+1 {
		t.Fatalf("%d names of %d types", len(byName), len(typeNames))
	}
	doctable.Of(t, "binding.go", "coverOf").HoldOne(t, [][]string{slices.Sorted(maps.Keys(byName))}, func(in []string) string {
		return string(coverOf(byName[in[0]]))
	})
}
