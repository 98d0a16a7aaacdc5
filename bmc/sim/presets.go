package sim

import (
	"slices"
	"time"
)

// Presets lists every personality that has a report of its behaviour; a few are
// assumed, and their Source says so. Each differs from an unremarkable BMC in
// that behaviour, and in the tree of its vendor.
func Presets() []Personality {
	return slices.Concat(
		Personalities(), overridePresets(), settingsPresets(), biosPresets(), etagPresets(),
		powerPresets(), reportPresets(), wirePresets(), latencyPresets(), eventPresets(), inventoryPresets(), mediaPresets(), accountPresets(),
		faultPresets(),
	)
}

// Preset is the preset of a name.
func Preset(name string) (p Personality, ok bool) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, true
		}
	}
	return Personality{}, false
}

// quiet is a BMC of which nothing is reported: the tree of a vendor, and
// transitions that can be seen.
func quiet(t *Tree) Personality {
	return Personality{Tree: t, PowerOnDelay: 20 * time.Millisecond, PowerOffDelay: 20 * time.Millisecond}
}

// quirk is a preset: a quiet BMC and one behaviour.
func quirk(name, source string, t *Tree, change func(*Personality)) Personality {
	p := quiet(t)
	p.Name, p.Source = name, source
	if change != nil {
		change(&p)
	}
	return p
}
