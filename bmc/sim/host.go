package sim

import (
	"log/slog"
	"slices"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// Host is one system behind a BMC, with a power supply of its own. Its methods
// are safe for concurrent use.
type Host struct {
	place    tree.Place
	machine  hardware.Machine
	tags     *tags
	log      *powerLog
	supply   *supply
	bios     *bios
	slots    *slots
	override *override
	power    *power
	reset    *resetAction
	restore  *restore
	system   *system
}

// desk is what the hosts of a BMC have in common.
type desk struct {
	tree    *tree.Tree
	manner  *manner
	tags    *tags
	diary   *diary
	jobs    *jobs
	events  *events
	later   *delay.Later
	logger  *slog.Logger
	fetches bool
	address string // of the BMC
}

func newHost(d desk, p tree.Place, machine hardware.Machine) *Host {
	h := &Host{place: p, machine: machine, tags: d.tags, log: newPowerLog(p.PowerLog, d.tree, d.tags)}
	h.supply = &supply{
		uri: p.URI, machine: machine, manner: d.manner, tags: d.tags, diary: d.diary, events: d.events, log: h.log, logger: d.logger,
		power: protocol.PowerOff, past: []powerChange{{power: protocol.PowerOff}},
	}
	h.bios = &bios{
		place: p, tree: d.tree, manner: d.manner, tags: d.tags, jobs: d.jobs, supply: h.supply,
		attributes: tree.Object{}, waiting: tree.Object{}, secure: tree.Object{}, secureNow: tree.Object{},
	}
	h.slots = &slots{
		uris: p.Media, tree: d.tree, manner: d.manner, tags: d.tags, diary: d.diary, logger: d.logger, fetches: d.fetches, from: d.address,
		media: make(map[string]tree.Object), drives: make(map[string]*hardware.Medium),
	}
	h.override = &override{
		place: p, tree: d.tree, manner: d.manner, tags: d.tags, diary: d.diary, jobs: d.jobs, supply: h.supply, bios: h.bios, slots: h.slots,
		order: &fixedOrder{uri: p.FixedOrder, tree: d.tree, tags: d.tags, written: tree.Object{}},
		boot:  asInTree(d.tree, p.URI),
	}
	h.power = &power{
		uri: p.URI, machine: machine, manner: d.manner, tags: d.tags, diary: d.diary, jobs: d.jobs, supply: h.supply, bios: h.bios,
		override: h.override, tasks: d.later, logger: d.logger, mains: true, ons: onOrders{drop: d.manner.now().DropOns},
	}
	h.reset = &resetAction{uri: p.URI, allowed: d.tree.Resets(p), manner: d.manner, diary: d.diary, jobs: d.jobs, tasks: d.later, power: h.power}
	h.restore = &restore{manner: d.manner, bios: h.bios}
	h.system = &system{
		place: p, tree: d.tree, machine: machine, manner: d.manner, tags: d.tags, supply: h.supply, override: h.override, restore: h.restore,
	}
	return h
}

func (h *Host) routes(t *router) {
	h.system.routes(t)
	t.add("POST", h.place.Reset, h.reset.post)
	h.override.routes(t)
	h.bios.routes(t)
	t.add("GET", h.place.PowerLog, h.log.get)
	h.slots.routes(t)
}

// URI is the URI of the host's ComputerSystem.
func (h *Host) URI() string { return h.place.URI }

// Machine is the machine behind the host.
func (h *Host) Machine() hardware.Machine { return h.machine }

// PowerState is the power state that the BMC holds for the host.
func (h *Host) PowerState() protocol.PowerState { return h.supply.now() }

// Override is the override that counts for the next boot.
func (h *Host) Override() protocol.Override { return h.override.now() }

// BootURI is what firmware is to load by HTTP; empty leaves that to DHCP.
func (h *Host) BootURI() string { return h.override.uri() }

// RestorePolicy is what the host does when mains power returns.
func (h *Host) RestorePolicy() RestorePolicy { return h.restore.policy() }

// Media is the image that a slot of the host holds; empty for none. The slot is
// given by its URI.
func (h *Host) Media(slot string) string { return h.slots.image(slot) }

// Insert is somebody who inserts an image at the BMC's page; an empty one is ejected.
func (h *Host) Insert(slot, image string) { h.slots.put(slot, image) }

// Slots are the URIs of the host's virtual drives.
func (h *Host) Slots() []string { return slices.Clone(h.place.Media) }

// PressPowerButton is a person at the machine: on if it is off, else the ACPI
// power button.
func (h *Host) PressPowerButton() { h.power.pressed() }

// ExternalOn is another party that powers the machine on past us.
func (h *Host) ExternalOn() { h.power.switchedOn() }
