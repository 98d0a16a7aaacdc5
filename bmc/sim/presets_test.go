package sim

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Every preset behaves as its trace says. Without its quirk a BMC with the same
// tree, or for presets that are a tree only the generic one, fails at a step
// that is marked as the quirk; and Plain fails somewhere.
func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			tr, err := readTrace(p.Name)
			if err != nil {
				t.Fatal(err)
			}
			if err := play(t, tr, p); err != nil {
				t.Fatal(err)
			}
			without := quiet(p.Tree)
			if bare := p; sameRules(bare, without) {
				without.Tree = nil
			}
			err = play(t, tr, without)
			var failed *stepError
			if !errors.As(err, &failed) || !failed.step.quirk {
				t.Errorf("without the quirk: %v; want a failure at one of the %d marked steps", err, tr.quirks())
			}
			if p.Name != Plain().Name && play(t, tr, Plain()) == nil {
				t.Error("Plain plays it too")
			}
		})
	}
}

func sameRules(p, q Personality) bool {
	p.Name, p.Source = q.Name, q.Source
	return reflect.DeepEqual(p, q)
}

func TestEveryPresetHasASourceAndATrace(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Presets() {
		if names[p.Name] || p.Name == "" {
			t.Errorf("preset %q: no name of its own", p.Name)
		}
		names[p.Name] = true
		if p.Source == "" {
			t.Errorf("preset %s: no source", p.Name)
		}
		if got, ok := Preset(p.Name); !ok || got.Source != p.Source {
			t.Errorf("preset %s is not found by its name", p.Name)
		}
	}
	entries, err := os.ReadDir(filepath.Join("testdata", "traces"))
	if err != nil {
		t.Fatal(err)
	}
	traces := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txt")
		traces[name] = true
		if !names[name] {
			t.Errorf("trace %s is of no preset", e.Name())
		}
	}
	for name := range names {
		if !traces[name] {
			t.Errorf("preset %s has no trace", name)
		}
	}
	t.Logf("%d presets, %d traces", len(names), len(traces))
}
