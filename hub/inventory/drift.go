package inventory

import (
	"maps"
	"slices"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

// wish is what an inventory is to say of firmware; the zero value is nothing.
type wish struct {
	any   bool
	names string // of BIOS attributes, by line, sorted
}

// wishOf is what the profiles of the servers behind a BMC are about.
func wishOf(f plan.Fleet, profiles []*resource.FirmwareProfile, servers []string) (w wish) {
	names := map[string]bool{}
	for _, s := range servers {
		srv := f.Server(s)
		if srv == nil {
			continue
		}
		if p, _ := settings.ProfileOf(srv, profiles); p != nil {
			w.any = true
			for _, n := range settings.Names(p.Spec) {
				names[n] = true
			}
		}
	}
	w.names = asLines(slices.Sorted(maps.Keys(names)))
	return w
}

// asLines joins the names that one question has room for.
func asLines(names []string) string {
	return strings.Join(names[:min(len(names), protocol.MaxFirmwareAttributes)], "\n")
}

// of is a question with the wish.
func (w wish) of(m message.Ask) message.Ask {
	m.Firmware = w.any
	if w.names != "" {
		m.Attributes = strings.Split(w.names, "\n")
	}
	return m
}

// hasWish is the wish with which the inventory of a BMC was read. Where none is wanted, nobody looks.
func hasWish(inventories *store.Inventories, b *resource.BMC, wanted wish) (w wish) {
	if !wanted.any {
		return w
	}
	inv := inventories.Peek(b.Metadata.Name, b.Metadata.UID)
	if inv == nil || len(inv.Systems) == 0 || inv.Systems[0].Firmware == nil {
		return w
	}
	return wish{true, asLines(inv.Systems[0].Firmware.Asked)}
}

// outdated has the inventory of a server's BMC read again where a plan has shown that something else is otherwise
// than the inventory says.
func outdated(c *Room, s *resource.Server, p *resource.FirmwareProfile, now resource.FirmwarePlan) {
	b, err := store.Peek[*resource.BMC](c.cfg.Store.Objects, s.Spec.BMCRef.Name)
	if err != nil {
		return // it went meanwhile
	}
	inv := c.cfg.Store.Inventories.Peek(b.Metadata.Name, b.Metadata.UID)
	if inv == nil {
		return
	}
	sys := inv.System(s.Spec.SystemURI)
	if sys == nil || sys.Firmware == nil {
		return
	}
	if was := settings.Drift(settings.Plan(p.Spec, settings.Shown(*sys))); !slices.Equal(was, settings.Drift(now.Changes)) {
		c.readings.again(b, c.cfg.Clock())
	}
}

// ReadAgain has the inventory of a server's BMC read again: its firmware is set otherwise since.
func ReadAgain(c *Room, server string) {
	s, err := store.Peek[*resource.Server](c.cfg.Store.Objects, server)
	if err != nil {
		return // it went meanwhile
	}
	if b, err := store.Peek[*resource.BMC](c.cfg.Store.Objects, s.Spec.BMCRef.Name); err == nil {
		c.readings.again(b, c.cfg.Clock())
	}
}

// drifts says of each server behind a BMC what of its firmware is not as its profile wants it, by its
// inventory. Any is that something is said.
func drifts(f plan.Fleet, b *resource.BMC, inv *store.Inventory, last reading, conds *bmcConditions) (any bool) {
	for _, name := range f.Behind(b.Metadata.Name) {
		s := f.Server(name)
		if s == nil {
			continue
		}
		p, _ := settings.ProfileOf(s, conds.profiles)
		sys := inv.System(s.Spec.SystemURI)
		if p == nil || sys == nil {
			continue
		}
		code, message := drift(p, *sys, last.wish.any && last.answered == last.wish)
		if message != "" {
			conds.server(name, code, message)
			any = true
		}
	}
	return any
}

// drift is what is said of one server; nothing where nothing is known yet. answered is that the agent
// was asked for it and has answered.
func drift(p *resource.FirmwareProfile, sys protocol.Inventory, answered bool) (resource.ConditionCode, string) {
	switch shown := settings.Shown(sys); {
	case sys.Firmware != nil:
		if otherwise := settings.Drift(settings.Plan(p.Spec, shown)); len(otherwise) > 0 {
			return resource.CondFirmwareDrift, "profile " + p.Metadata.Name + ": " + strings.Join(otherwise, ", ")
		}
	case answered:
		return resource.CondAgentTooOld, "its agent reads no settings of firmware, with which profile " + p.Metadata.Name + " is compared"
	}
	return "", ""
}
