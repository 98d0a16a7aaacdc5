package inventory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// shared finds the addresses that two systems show, and keeps them at the servers.
type shared struct {
	store  *store.Store
	logger *slog.Logger
}

// otherWith is another server whose spec has the MAC address; empty if none has.
func (c *shared) otherWith(mac, but string) string {
	for _, s := range store.Find(c.store.Objects, store.ServersByMAC, mac) {
		if s.Metadata.Name != but {
			return s.Metadata.Name
		}
	}
	return ""
}

// without are the systems of an inventory without the addresses that a server of another system
// has: an address that is seen at two systems is no reason to refuse the second one, and it leads
// to neither. taken says which those are.
func (c *shared) without(f plan.Fleet, b *resource.BMC, systems []protocol.Inventory) (out []protocol.Inventory, taken []string) {
	for _, sys := range systems {
		own := ""
		if s := f.SystemServer(b.Metadata.Name, sys.SystemURI, len(systems) == 1); s != nil {
			own = s.Metadata.Name
		}
		sys.Interfaces = slices.Clone(sys.Interfaces)
		for i := range sys.Interfaces {
			n := &sys.Interfaces[i]
			mac := protocol.InterfaceMAC(n.MAC)
			if n.Internal != "" || mac == "" || own != "" {
				continue
			}
			if other := c.otherWith(mac, own); other != "" {
				n.Internal = "server " + other + " has it as well"
				taken = append(taken, mac+" (server "+other+")")
			}
		}
		out = append(out, sys)
	}
	return out, taken
}

// keep notes at the servers of a BMC, and at the others, which addresses of theirs were seen at
// two systems. Those of a server that somebody applied are its all the same.
func (c *shared) keep(ctx context.Context, f plan.Fleet, b *resource.BMC, systems []protocol.Inventory) error {
	var errs []error
	for _, sys := range systems {
		s := f.SystemServer(b.Metadata.Name, sys.SystemURI, len(systems) == 1)
		if s == nil {
			continue
		}
		name := s.Metadata.Name
		var want []resource.SharedMAC
		for _, mac := range sys.HostMACs() {
			if other := c.otherWith(mac, name); other != "" {
				want = append(want, resource.SharedMAC{MAC: mac, Server: other})
			}
		}
		gone := slices.DeleteFunc(slices.Clone(s.Status.SharedMACs), func(m resource.SharedMAC) bool {
			// What this server's own spec has, the other's inventory has shown.
			return slices.Contains(want, m) || c.shows(m.Server, m.MAC)
		})
		for _, m := range want {
			errs = append(errs, c.mark(ctx, name, m, true), c.mark(ctx, m.Server, resource.SharedMAC{MAC: m.MAC, Server: name}, true))
		}
		for _, m := range gone {
			errs = append(errs, c.mark(ctx, name, m, false), c.mark(ctx, m.Server, resource.SharedMAC{MAC: m.MAC, Server: name}, false))
		}
	}
	return errors.Join(errs...)
}

// shows says whether the inventory of a server's BMC shows an address at its system.
func (c *shared) shows(server, mac string) bool {
	s, err := store.Peek[*resource.Server](c.store.Objects, server)
	if err != nil {
		return false
	}
	b, err := store.Peek[*resource.BMC](c.store.Objects, s.Spec.BMCRef.Name)
	if err != nil {
		return false
	}
	inv := c.store.Inventories.Peek(b.Metadata.Name, b.Metadata.UID)
	if inv == nil {
		return false
	}
	sys := inv.System(s.Spec.SystemURI)
	return sys != nil && slices.Contains(sys.HostMACs(), mac)
}

// mark notes at one server that an address of its is another's as well, or is not any more.
func (c *shared) mark(ctx context.Context, server string, m resource.SharedMAC, is bool) error {
	s, err := store.Get[*resource.Server](c.store.Objects, server)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound, err == nil && slices.Contains(s.Status.SharedMACs, m) == is:
		return nil
	case err != nil:
		return err
	}
	if is {
		s.Status.SharedMACs = append(slices.Clone(s.Status.SharedMACs), m)
	} else {
		s.Status.SharedMACs = slices.DeleteFunc(slices.Clone(s.Status.SharedMACs), func(o resource.SharedMAC) bool { return o == m })
	}
	slices.SortFunc(s.Status.SharedMACs, func(a, b resource.SharedMAC) int {
		return strings.Compare(a.MAC+" "+a.Server, b.MAC+" "+b.Server)
	})
	if err = c.store.Objects.Put(ctx, s); protocol.CodeOf(err) == protocol.CodeConflict {
		return nil // the next turn comes to it again
	}
	if err == nil {
		c.logger.Warn("mac address of two servers", "server", server, "mac", m.MAC, "other", m.Server, "shared", is)
	}
	return err
}

// sharedWords are what is said of the addresses that a server has with others.
func sharedWords(s *resource.Server) string {
	var out []string
	for _, m := range s.Status.SharedMACs {
		said := "does not count for this server"
		if !s.DropsShared() {
			said = "counts for this server, as its spec says"
		}
		out = append(out, fmt.Sprintf("%s is seen at server %s as well, and %s", m.MAC, m.Server, said))
	}
	return strings.Join(out, "; ")
}
