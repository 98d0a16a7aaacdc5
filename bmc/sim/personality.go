package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// Reach is how a BMC answers the network.
type Reach string

// The reaches.
const (
	ReachOK      Reach = "ok"
	ReachRefused Reach = "refused" // connection refused: web service or BMC down
	ReachHangs   Reach = "hangs"   // takes requests and never answers
)

// RestorePolicy is Redfish PowerRestorePolicy: what a server does when mains
// power returns.
type RestorePolicy string

// The restore policies.
const (
	RestoreAlwaysOff RestorePolicy = "AlwaysOff"
	RestoreAlwaysOn  RestorePolicy = "AlwaysOn"
	RestoreLastState RestorePolicy = "LastState"
)

// Personality is how a BMC behaves, as data. The zero value answers well and at
// once.
type Personality struct {
	Name   string
	Source string // the report or captured tree that shows the behaviour

	Manufacturer string // empty: what the tree says
	Model        string

	PowerOnDelay  time.Duration // shown as PoweringOn
	PowerOffDelay time.Duration // shown as PoweringOff after ForceOff
	AnswerDelay   time.Duration // before every answer

	// NoMode leaves BootSourceOverrideMode out; a PATCH of it fails.
	NoMode bool
	// ActionInfoOnly states the reset types by ActionInfo instead of inline.
	ActionInfoOnly bool

	// RefusePatchInPost refuses boot changes while firmware runs.
	RefusePatchInPost bool
	// AlreadyStatus answers a reset to the state that the system is in: 0 is 204,
	// or 400 or 409 with AlreadyMessage.
	AlreadyStatus  int
	AlreadyMessage string
	// IgnoreGraceful accepts GracefulShutdown and does nothing.
	IgnoreGraceful bool
	// HangPoweringOff stays in PoweringOff after GracefulShutdown until ForceOff.
	HangPoweringOff bool
	// DropOverride answers a boot change with 200 and does not store it.
	DropOverride bool
	// DropOns is how many resets of type On are accepted and forgotten.
	DropOns int
	// RefuseOnFor refuses On with 409 for a time after power went off.
	RefuseOnFor time.Duration
	// Reach is how the BMC answers at first; empty is ReachOK.
	Reach Reach
	// Restore applies when mains power returns; empty is RestoreAlwaysOff.
	Restore RestorePolicy

	// Tree is what the resources say; nil is GenericTree. It is read once, by New.
	Tree    *tree.Tree
	Latency Latency // on top of AnswerDelay
	Boot    BootRules
	ETag    ETagRules
	Power   PowerRules
	Report  ReportRules
	Session SessionRules
	Account AccountRules
	Wire    WireRules
	Event   EventRules
	Media   MediaRules
	BIOS    BIOSRules
	Update  UpdateRules
}

// Plain has no quirk besides what most BMCs do: 409 for a state already
// reached, and visible transitions.
func Plain() Personality {
	return Personality{
		Name: "Plain", Source: "Dell R750 iDRAC9 6.00.30 (captured tree); 409 PSU501: OpenStack ironic",
		Manufacturer: "Dell Inc.", Model: "PowerEdge R750",
		PowerOnDelay: 20 * time.Millisecond, PowerOffDelay: 20 * time.Millisecond,
		AlreadyStatus: 409, AlreadyMessage: messageAlreadyDell,
	}
}

func plainWith(name, source string, change func(*Personality)) Personality {
	p := Plain()
	p.Name, p.Source = name, source
	change(&p)
	return p
}

// PostRefuses refuses boot changes during POST, and answers 400 for a state
// already reached.
func PostRefuses() Personality {
	return plainWith("PostRefuses", "HPE iLO 5 2.72; ironcore-dev/metal-operator #997", func(p *Personality) {
		p.Manufacturer, p.Model = "HPE", "ProLiant DL385 Gen10 Plus v2"
		p.RefusePatchInPost = true
		p.AlreadyStatus, p.AlreadyMessage = 400, messageAlreadyHPE
	})
}

// ActionInfoOnly states its reset types in a resource of their own.
func ActionInfoOnly() Personality {
	return plainWith("ActionInfoOnly", "Supermicro SYS-821GE-TNHR 11.01 (captured tree)", func(p *Personality) {
		p.Manufacturer, p.Model = "Supermicro", "SYS-821GE-TNHR"
		p.ActionInfoOnly = true
	})
}

// Baseboard lists a second system that is no host.
func Baseboard() Personality {
	return plainWith("Baseboard", "NVIDIA GB200, HGX_Baseboard_0 (captured tree)", func(p *Personality) {
		p.Manufacturer, p.Model = "NVIDIA", "GB200 NVL"
		p.Tree, p.NoMode = tree.Baseboard(), true
	})
}

// IgnoresGraceful takes the request for a graceful shutdown and does nothing.
func IgnoresGraceful() Personality {
	return plainWith("IgnoresGraceful", "guest without ACPI handling; metal3-io/baremetal-operator soft power-off time-out", func(p *Personality) {
		p.IgnoreGraceful = true
	})
}

// HangsPoweringOff never leaves PoweringOff after a graceful shutdown.
func HangsPoweringOff() Personality {
	return plainWith("HangsPoweringOff", "ironic counts PoweringOff as off: a hung host reported as fenced", func(p *Personality) {
		p.HangPoweringOff = true
	})
}

// DropsOverride answers 200 to a boot change and does not store it.
func DropsOverride() Personality {
	return plainWith("DropsOverride", "Supermicro AS-1015CS; bmc-toolbox/bmclib #459", func(p *Personality) {
		p.DropOverride = true
	})
}

// DropsOn accepts one On and forgets it.
func DropsOn() Personality {
	return plainWith("DropsOn", "power-on lost during another party's shutdown; powerman #154", func(p *Personality) {
		p.DropOns = 1
	})
}

// RefusesOnAfterOff refuses On for a while after power went off.
func RefusesOnAfterOff() Personality {
	return plainWith("RefusesOnAfterOff", "Dell iDRAC 10, up to 60 s; OpenStack ironic", func(p *Personality) {
		p.RefuseOnFor = 200 * time.Millisecond
	})
}

// SlowAnswers takes its time for every answer.
func SlowAnswers() Personality {
	return plainWith("SlowAnswers", "Dell R750: mean 0.19 s, up to 18 s", func(p *Personality) {
		p.AnswerDelay = 190 * time.Millisecond
	})
}

// Down refuses connections until SetReach.
func Down() Personality {
	return plainWith("Down", "BMC restarting or unplugged", func(p *Personality) { p.Reach = ReachRefused })
}

// Personalities lists the presets above, that every driver must know. [Presets]
// has them and all others.
func Personalities() []Personality {
	return []Personality{
		Plain(), PostRefuses(), ActionInfoOnly(), Baseboard(), IgnoresGraceful(), HangsPoweringOff(),
		DropsOverride(), DropsOn(), RefusesOnAfterOff(), SlowAnswers(), Down(),
	}
}
