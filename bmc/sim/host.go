package sim

import (
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
)

// Host is one system behind a BMC, with a power supply of its own. Its methods
// are safe for concurrent use.
type Host struct {
	bmc     *BMC
	place   place
	machine Machine
	resets  []string // none: not stated

	// The rest is guarded by bmc.mu.
	power      protocol.PowerState
	past       []powerChange // oldest first
	epoch      uint64        // grows with each command, so that older delays end without effect
	offAt      time.Time
	begunAt    time.Time // of the last power-on or reset
	resetAt    time.Time // of the last accepted reset
	lastReset  time.Time
	begun      bool // the boot was begun before the machine said so
	masked     bool // a restart by the BMC itself is not shown as Off
	hung       bool // no boot until power was off
	dropOns    int
	beforeLoss protocol.PowerState

	boot       bootValues
	pending    bootValues // nil: none
	picked     string     // the target by which firmware picks its device
	biosJob    bool
	lateJob    bool
	diskBoot   bool // this boot takes the disk
	netBoots   int
	order      object // what was written to the fixed boot order
	restore    RestorePolicy
	attributes object // BIOS attributes that differ from the tree
	waiting    object // BIOS attributes for the next reset
	secure     object // SecureBoot values for the next reset
	secureNow  object
	media      map[string]object // what was inserted, by folded URI of the slot
	drives     map[string]*Medium
	powerLog   []object
}

func newHost(b *BMC, p place, machine Machine) *Host {
	t := b.tree
	h := &Host{
		bmc: b, place: p, machine: machine,
		resets: t.resets(p),
		power:  protocol.PowerOff, past: []powerChange{{power: protocol.PowerOff}},
		attributes: object{}, waiting: object{}, secure: object{}, secureNow: object{}, order: object{},
		media: make(map[string]object), drives: make(map[string]*Medium),
		boot: bootValues{
			bootTarget: string(protocol.TargetNone), bootEnabled: string(protocol.OverrideDisabled), bootMode: modeUEFI,
		},
		dropOns: b.personality.DropOns,
	}
	for _, name := range []string{bootTarget, bootEnabled, bootMode} {
		if value := textAt(t.look(p.uri), "Boot", name); value != "" {
			h.boot[name] = value
		}
	}
	return h
}

// URI is the URI of the host's ComputerSystem.
func (h *Host) URI() string { return h.place.uri }

// Machine is the machine behind the host.
func (h *Host) Machine() Machine { return h.machine }

// PowerState is the power state that the BMC holds for the host.
func (h *Host) PowerState() protocol.PowerState {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	return h.power
}

// Override is the override that counts for the next boot.
func (h *Host) Override() protocol.Override {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	o := h.boot.override()
	if h.bmc.noMode(h) {
		o.Mode = ""
	}
	return o
}

// BootURI implements Board.
func (h *Host) BootURI() string {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	return h.boot.text(bootURI)
}

// RestorePolicy is what the host does when mains power returns.
func (h *Host) RestorePolicy() RestorePolicy {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	return h.restorePolicy()
}

// NextBoot implements Board.
func (h *Host) NextBoot() protocol.BootTarget {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	rules := h.bmc.personality.Boot
	o := h.boot.override()
	h.picked = string(o.Target)
	switch {
	case h.diskBoot:
		return protocol.TargetHdd
	case !o.Armed():
		return protocol.TargetNone
	case isMedium(o.Target) && !h.mediumFor(o.Target):
		h.bmc.record(RecordBoot, "no medium for "+string(o.Target))
		return protocol.TargetNone
	case o.Target == protocol.TargetUefiHTTP && !h.fits(rules.NetworkNeeds):
		h.bmc.record(RecordBoot, rules.NetworkNeedID)
		return protocol.TargetHdd // firmware goes on to the next device
	default:
		return o.Target
	}
}

// BootConsumed implements Board: an override for once ends.
func (h *Host) BootConsumed(target protocol.BootTarget) {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	rules := h.bmc.personality.Boot
	h.bmc.record(RecordConsumed, string(target))
	if target == protocol.TargetPxe || target == protocol.TargetUefiHTTP {
		if h.netBoots++; h.netBoots == rules.DiskDisabled {
			h.order["UEFIHardDisk"] = "Disabled"
		}
	}
	o := h.boot.override()
	if o.Enabled == protocol.OverrideOnce && string(o.Target) == h.picked && !rules.NeverUsedUp && !h.lateJob {
		h.boot = h.boot.disarmed()
		h.bmc.touch(h.place.uri)
	}
	h.diskBoot, h.lateJob = false, false
}

// MachineChanged implements Board.
func (h *Host) MachineChanged(state MachineState) {
	b := h.bmc
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touch(h.place.uri)
	// Only what the machine is now counts: calls can overtake each other.
	switch {
	case h.machine.State() == MachineOff:
		if h.masked {
			return
		}
		h.offAt, h.hung = time.Now(), false
		h.setPower(protocol.PowerOff)
	case state == MachinePost:
		h.lastReset = time.Now()
		if !h.begun {
			h.beginBoot()
		}
		h.begun, h.masked = false, false
		if h.power != protocol.PowerPoweringOff {
			h.setPower(protocol.PowerOn)
		}
		if h.biosJob {
			h.biosJob, h.diskBoot = false, true
			h.restart("BIOS job")
		}
	}
}

// beginBoot puts into force what waits for a reset. bmc.mu is held.
func (h *Host) beginBoot() {
	h.begunAt = time.Now()
	if h.pending != nil {
		h.boot, h.pending = h.boot.with(h.pending), nil
	}
	maps.Copy(h.attributes, h.waiting)
	clear(h.waiting)
	maps.Copy(h.secureNow, h.secure)
	clear(h.secure)
	h.bmc.finishJobs(h)
	if h.bmc.personality.Boot.UsedUpAtOn && h.boot.override().Enabled == protocol.OverrideOnce {
		h.boot = h.boot.disarmed()
	}
	h.bmc.touch(h.place.uri)
}

// fits says whether all attributes have the values. bmc.mu is held.
func (h *Host) fits(want []Attribute) bool {
	return !slices.ContainsFunc(want, func(a Attribute) bool { return h.attribute(a.Name) != a.Value })
}

// setPower sets the power state. bmc.mu is held.
func (h *Host) setPower(p protocol.PowerState) {
	if h.power == p {
		return
	}
	h.power = p
	if len(h.past) == maxPast {
		h.past = h.past[1:]
	}
	h.past = append(h.past, powerChange{time.Now(), p})
	h.bmc.touch(h.place.uri)
	h.bmc.record(RecordPower, string(p))
	h.bmc.logger.Debug("simulated power", "power", p)
	h.bmc.powerChanged(h)
}
