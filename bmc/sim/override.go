package sim

import (
	"sync"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// override is the boot override of a system, as it is written, shown and used up. Its
// methods are safe for concurrent use.
type override struct {
	place  tree.Place
	tree   *tree.Tree
	manner *manner
	tags   *tags
	diary  *diary
	jobs   *jobs
	supply *supply
	bios   *bios
	slots  *slots
	order  *fixedOrder

	mu       sync.Mutex
	boot     bootValues
	pending  bootValues // nil: none
	picked   string     // the target by which firmware picks its device
	biosJob  bool
	lateJob  bool
	diskBoot bool // this boot takes the disk
	netBoots int
}

// asInTree is a new system's override: what the tree says, or none.
func asInTree(t *tree.Tree, uri string) bootValues {
	boot := bootValues{
		tree.BootTarget: string(protocol.TargetNone), tree.BootEnabled: string(protocol.OverrideDisabled), tree.BootMode: tree.ModeUEFI,
	}
	for _, name := range []string{tree.BootTarget, tree.BootEnabled, tree.BootMode} {
		if value := tree.TextAt(t.Look(uri), "Boot", name); value != "" {
			boot[name] = value
		}
	}
	return boot
}

// clear takes the override away, whatever the rules refuse to others.
func (o *override) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.boot, o.pending = bootValues{
		tree.BootTarget: string(protocol.TargetNone), tree.BootEnabled: string(protocol.OverrideDisabled), tree.BootMode: tree.ModeUEFI,
	}, nil
}

// now is the override that counts for the next boot.
func (o *override) now() protocol.Override {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := o.boot.override()
	if o.noMode() {
		v.Mode = ""
	}
	return v
}

// uri is what firmware is to load by HTTP; empty leaves that to DHCP.
func (o *override) uri() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.boot.text(tree.BootURI)
}

// next is the target by which firmware picks its device.
func (o *override) next() protocol.BootTarget {
	o.mu.Lock()
	defer o.mu.Unlock()
	rules := o.manner.now().Boot
	v := o.boot.override()
	o.picked = string(v.Target)
	switch {
	case o.diskBoot:
		return protocol.TargetHdd
	case !v.Armed():
		return protocol.TargetNone
	case hardware.IsMedium(v.Target) && !o.slots.mediumFor(v.Target):
		o.diary.record(RecordBoot, "no medium for "+string(v.Target))
		return protocol.TargetNone
	case v.Target == protocol.TargetUefiHTTP && !o.bios.fits(rules.NetworkNeeds):
		o.diary.record(RecordBoot, rules.NetworkNeedID)
		return protocol.TargetHdd // firmware goes on to the next device
	case v.Target == protocol.TargetPxe && !o.bios.fits(rules.PxeNeeds):
		return protocol.TargetUefiHTTP
	default:
		return v.Target
	}
}

// consumed is the end of an override for once.
func (o *override) consumed(target protocol.BootTarget) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rules := o.manner.now().Boot
	o.diary.record(RecordConsumed, string(target))
	if target == protocol.TargetPxe || target == protocol.TargetUefiHTTP {
		if o.netBoots++; o.netBoots == rules.DiskDisabled {
			o.order.disableDisk()
		}
	}
	v := o.boot.override()
	if v.Enabled == protocol.OverrideOnce && string(v.Target) == o.picked && !rules.NeverUsedUp && !o.lateJob {
		o.boot = o.boot.disarmed()
		o.tags.touch(o.place.URI)
	}
	o.diskBoot, o.lateJob = false, false
}

// begin puts into force what waits for a reset.
func (o *override) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pending != nil {
		o.boot, o.pending = o.boot.with(o.pending), nil
	}
	if o.manner.now().Boot.UsedUpAtOn && o.boot.override().Enabled == protocol.OverrideOnce {
		o.boot = o.boot.disarmed()
	}
}

// takeJob says whether a BIOS job restarts the host; the boot after it takes the disk.
func (o *override) takeJob() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.biosJob {
		return false
	}
	o.biosJob, o.diskBoot = false, true
	return true
}

// noMode says whether the host has no BootSourceOverrideMode: a PATCH of it
// fails.
func (o *override) noMode() bool {
	return o.manner.now().NoMode || !o.has(o.place.URI, tree.BootMode) && !o.has(o.place.Settings, tree.BootMode)
}

// has says whether the tree shows a property in the Boot of a resource.
func (o *override) has(uri, name string) bool {
	boot, _ := tree.At(o.tree.Look(uri), "Boot").(tree.Object)
	_, ok := boot[name]
	return ok
}
