package resource

import (
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Readiness is whether a server can be booted and held as it is.
type Readiness string

// The readinesses, best first.
const (
	// Ready: at least one method boots it with nothing set first, and a hold is provable.
	Ready Readiness = "Ready"
	// ReadyOnceSet: no method boots it before one of its BIOS settings is changed.
	ReadyOnceSet Readiness = "ReadyOnceSet"
	// NotReady: no method boots it, or no hold of it can be forced and proved.
	NotReady Readiness = "NotReady"
)

// Readinesses lists them, best first.
func Readinesses() []Readiness { return []Readiness{Ready, ReadyOnceSet, NotReady} }

// Words are the readiness, for people.
func (r Readiness) Words() string {
	switch r {
	case Ready:
		return "ready"
	case ReadyOnceSet:
		return "ready once a BIOS setting is changed"
	case NotReady:
	}
	return "not ready"
}

// Setting is a BIOS attribute that has to be changed.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // now
	Want  string `json:"want"`
}

// MethodVerdict is whether a server boots by a method: with nothing set first, once its Settings
// are made, or not at all, and then Why says the reason.
type MethodVerdict struct {
	Method   FirstBoot `json:"method"`
	Ready    Readiness `json:"ready"`
	Settings []Setting `json:"settings,omitempty"`
	Why      string    `json:"why,omitempty"`
	Remedy   string    `json:"remedy,omitempty"`
}

// HoldVerdict is whether a hold of the server can be forced and proved.
type HoldVerdict struct {
	Provable bool `json:"provable"`
	// Limit is what keeps it from being forced; empty for nothing.
	Limit HoldLimit `json:"limit,omitempty"`
	// Power is the state that was read; a hold is proved by it.
	Power protocol.PowerState `json:"power,omitempty"`
}

// Verdict is what a probe comes to.
type Verdict struct {
	Ready     Readiness          `json:"ready"`
	Methods   []MethodVerdict    `json:"methods"`
	Hold      HoldVerdict        `json:"hold"`
	SafeStop  protocol.SafeStop  `json:"safeStop"`
	Detection protocol.Detection `json:"detection"`
}

// VerdictOf judges what a BMC was found to offer.
func VerdictOf(p protocol.Probe) Verdict {
	v := Verdict{Hold: holdVerdict(p), SafeStop: p.Inventory.SafeStop, Detection: p.Inventory.Detection}
	best := NotReady
	for _, m := range FirstBoots() {
		is := methodVerdict(p, m)
		v.Methods = append(v.Methods, is)
		if slices.Index(Readinesses(), is.Ready) < slices.Index(Readinesses(), best) {
			best = is.Ready
		}
	}
	v.Ready = readiness(best, v.Hold.Provable)
	return v
}

// Worst is the readiness of several systems; Ready of none.
func Worst(all []Verdict) Readiness {
	worst := Ready
	for _, v := range all {
		if slices.Index(Readinesses(), v.Ready) > slices.Index(Readinesses(), worst) {
			worst = v.Ready
		}
	}
	return worst
}

// readiness is that of a server, by its best method and whether a hold is provable. How far
// firmware order stops a disk does not count: few servers have an order that does.
//
//	method       | provable | readiness
//	*            | no       | NotReady
//	Ready        | yes      | Ready
//	ReadyOnceSet | yes      | ReadyOnceSet
//	NotReady     | yes      | NotReady
func readiness(method Readiness, provable bool) Readiness {
	if !provable {
		return NotReady
	}
	return method
}

// methodReadiness is that of one method, by whether it can be armed and whether it needs a setting.
//
//	armable | setting | readiness
//	no      | *       | NotReady
//	yes     | yes     | ReadyOnceSet
//	yes     | no      | Ready
func methodReadiness(armable, setting bool) Readiness {
	switch {
	case !armable:
		return NotReady
	case setting:
		return ReadyOnceSet
	}
	return Ready
}

func methodVerdict(p protocol.Probe, m FirstBoot) MethodVerdict {
	out := MethodVerdict{Method: m, Why: "it was not asked for"}
	armable := false
	for _, plan := range p.Boot {
		if plan.Target == m.Target() {
			armable, out.Why, out.Remedy = plan.Supported, plan.Why, plan.Remedy
		}
	}
	if m == FirstBootVirtualMedia && armable && !p.Media.Supported {
		armable, out.Why, out.Remedy = false, p.Media.Why, ""
	}
	out.Settings = settingsFor(p, m)
	out.Ready = methodReadiness(armable, len(out.Settings) > 0)
	switch out.Ready {
	case Ready, ReadyOnceSet: // what a plan says besides is of its writes
		out.Why, out.Remedy = "", ""
	case NotReady:
		out.Settings = nil
	}
	return out
}

// settingsFor are the settings that a method waits for: the switch that has it off, and what a URL from
// DHCP needs besides.
func settingsFor(p protocol.Probe, m FirstBoot) (out []Setting) {
	if b := p.Inventory.Offers.Boot(m.Target()); b.Is == protocol.OfferedOff {
		out = append(out, Setting{b.Setting, b.Value, b.Want})
	}
	if m != FirstBootUefiHTTP {
		return out
	}
	for _, way := range p.HTTP {
		if way.Way != protocol.HTTPByDHCP {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(way.Write)) {
			if !slices.ContainsFunc(out, func(s Setting) bool { return s.Name == name }) {
				out = append(out, Setting{name, currentOf(p, name), way.Write[name]})
			}
		}
	}
	return out
}

// currentOf is an attribute's value; the way by DHCP itself says none, as it collects those of others.
func currentOf(p protocol.Probe, name string) string {
	for _, way := range p.HTTP {
		if value, ok := way.Current[name]; ok {
			return value
		}
	}
	return ""
}

func holdVerdict(p protocol.Probe) HoldVerdict {
	h := HoldVerdict{Limit: LimitOf(p.Inventory.Offers, false), Power: protocol.PowerState(p.Power)}
	h.Provable = h.Limit == "" && h.Power != "" && h.Power != protocol.PowerUnknown && h.Power != protocol.PowerUnreachable
	return h
}

// Words are the verdict in one sentence, for people.
func (v Verdict) Words() string {
	var parts []string
	for _, m := range v.Methods {
		parts = append(parts, m.Words())
	}
	parts = append(parts, v.Hold.Words(), v.SafeStopWords())
	return strings.Join(parts, "; ")
}

// Words are a method's verdict, for people: UefiHttp: set IPv4HTTPSupport to Enabled (it is Disabled).
func (m MethodVerdict) Words() string {
	switch m.Ready {
	case Ready:
		return string(m.Method) + " ready"
	case ReadyOnceSet:
		var all []string
		for _, s := range m.Settings {
			all = append(all, s.Words())
		}
		return string(m.Method) + ": set " + strings.Join(all, ", ")
	case NotReady:
	}
	if m.Why == "" {
		return string(m.Method) + " is not offered"
	}
	return string(m.Method) + " is not offered: " + m.Why
}

// Words are the setting, for people.
func (s Setting) Words() string {
	want := s.Want
	if want == "" {
		want = "empty"
	}
	if s.Value == "" {
		return s.Name + " to " + want
	}
	return s.Name + " to " + want + " (it is " + s.Value + ")"
}

// Words are whether a hold is provable, for people.
func (h HoldVerdict) Words() string {
	switch {
	case h.Provable:
		return "holds provable"
	case h.Limit != "":
		return "holds cannot be forced: " + h.Limit.Words()
	}
	return "holds cannot be proved: the BMC says no usable PowerState"
}

// SafeStopWords are how far firmware order stops a server that somebody else powers on, for people.
func (v Verdict) SafeStopWords() string {
	s := v.SafeStop
	switch s.Class {
	case protocol.SafeStopShellFirst:
		return "safe stop by the shell"
	case protocol.SafeStopNetworkFirst:
		return "safe stop by the agent's stop image, where the Rack has one"
	case protocol.SafeStopShellAvailable, protocol.SafeStopShellByBIOS:
		return "safe stop possible: " + s.Reason
	case protocol.SafeStopNone:
		return "safe stop none because " + s.Reason
	case protocol.SafeStopUnknown:
	}
	if s.Reason == "" {
		return "safe stop unknown"
	}
	return "safe stop unknown: " + s.Reason
}
