package sim

import (
	"slices"
)

// Presets lists every personality that has a report of its behaviour; a few are
// assumed, and their Source says so. Each differs from an unremarkable BMC in
// that behaviour, and in the tree of its vendor.
func Presets() []Personality {
	return slices.Concat(
		Personalities(), overridePresets(), settingsPresets(), biosPresets(), etagPresets(),
		powerPresets(), reportPresets(), wirePresets(), latencyPresets(), eventPresets(), inventoryPresets(), mediaPresets(), accountPresets(),
		faultPresets(), hardwarePresets(),
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
