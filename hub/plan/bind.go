package plan

import (
	"fmt"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Binding gives a claim its server.
type Binding struct {
	Claim  string
	Server string
}

// Unbound says why a claim has no server.
type Unbound struct {
	Claim  string
	Reason string
}

// Bind gives servers to the claims that want one, in order of name. A server goes
// to one claim only, not while it is held: a hold is not inherited, and not before it is
// discovered, where its rack has that, also if the claim names it. By name, a
// server is taken whatever it does else; by selector, only one that was last read Off,
// so that nothing that runs is ever taken by a label, and no orphaned one (see Orphaned). Neither way one that the claim's
// first boot does not come to.
//
//	by       | taken | held | comes | discovered | read | binds
//	*        | yes   | *    | *     | *          | *    | no
//	*        | no    | yes  | *     | *          | *    | no
//	*        | no    | no   | no    | *          | *    | no
//	*        | no    | no   | yes   | no         | *    | no
//	name     | no    | no   | yes   | yes        | *    | yes
//	selector | no    | no   | yes   | yes        | Off  | yes
//	selector | no    | no   | yes   | yes        | else | no
func Bind(f Fleet) (bindings []Binding, unbound []Unbound) {
	f = f.Indexed()
	taken := map[string]bool{} // in this pass
	for _, c := range f.Wanting {
		if c.Status.Server != "" || c.Metadata.DeletedAt != nil {
			continue
		}
		server, reason := pick(f, c, taken)
		if server == "" {
			unbound = append(unbound, Unbound{c.Metadata.Name, reason})
			continue
		}
		taken[server] = true
		bindings = append(bindings, Binding{c.Metadata.Name, server})
	}
	return bindings, unbound
}

func pick(f Fleet, c *resource.Claim, taken map[string]bool) (server, reason string) {
	if ref := c.Spec.ServerRef; ref != nil {
		switch {
		case f.server(ref.Name) == nil:
			return "", fmt.Sprintf("server %s does not exist", ref.Name)
		case taken[ref.Name] || f.ClaimOf(ref.Name) != nil:
			return "", fmt.Sprintf("server %s has another claim", ref.Name)
		case cannotBoot(f, ref.Name, c) != "":
			return "", cannotBoot(f, ref.Name, c)
		case f.held(ref.Name):
			return "", fmt.Sprintf("server %s is held off by %s; it is bound when all holds are released", ref.Name, holders(f, ref.Name))
		}
		if why := whyUndiscovered(f, f.server(ref.Name)); !binds(true, false, false, true, why == "", false) {
			return "", why
		}
		return ref.Name, ""
	}
	matched, fresh, cannot, last := 0, 0, 0, ""
	for _, s := range f.Selected(*c.Spec.ServerSelector) {
		matched++
		name := s.Metadata.Name
		if !taken[name] && Selects(f, c, name) {
			return name, ""
		}
		if why := cannotBoot(f, name, c); why != "" {
			cannot, last = cannot+1, why
		} else if whyUndiscovered(f, s) != "" {
			fresh++
		}
	}
	if matched == 0 {
		return "", "no server has the labels of its selector"
	}
	if cannot == matched {
		return "", fmt.Sprintf("%d servers match, and %s comes to none of them: %s", matched, c.Spec.BootPolicy.FirstBoot, last)
	}
	reason = fmt.Sprintf("%d servers match, and none of them is free, not held and read Off", matched)
	if fresh > 0 {
		reason += fmt.Sprintf("; %d of them are not discovered yet", fresh)
	}
	return "", reason
}

// Selects reports whether a claim may get one server by its selector, as Bind does.
func Selects(f Fleet, c *resource.Claim, server string) bool {
	s := f.Server(server)
	if s == nil || c.Spec.ServerSelector == nil || !c.Spec.ServerSelector.Matches(s.Metadata.Labels) {
		return false
	}
	r := f.Reports[server]
	off := r != nil && r.Observation.Power == protocol.PowerOff && f.MaintenanceOf(server) == nil && r.Unreleased == nil
	return binds(false, f.ClaimOf(server) != nil, f.held(server), cannotBoot(f, server, c) == "", whyUndiscovered(f, s) == "", off)
}

// cannotBoot says why a claim's first boot does not come to a server; empty if it does.
func cannotBoot(f Fleet, server string, c *resource.Claim) string {
	return unreached(f, f.server(server), c.Spec.BootPolicy.FirstBoot)
}

// unreached says why a first boot does not come to a server; empty if it does.
func unreached(f Fleet, s *resource.Server, by resource.FirstBoot) string {
	return s.CannotBoot(by, f.segmentOf(f.RackOf(s.Metadata.Name), s.Spec.SegmentRef.Name))
}

func binds(byName, taken, held, comes, discovered, off bool) bool {
	return !taken && !held && comes && discovered && (byName || off)
}

// holders names who holds a server off, and by which keys; at most five of them.
func holders(f Fleet, server string) string {
	const most = 5
	var who []string
	for _, h := range f.HoldsOn(server) {
		who = append(who, fmt.Sprintf("%q (key %q)", h.Spec.Owner, h.Spec.Key))
	}
	if len(who) > most {
		who = append(who[:most], "others")
	}
	return strings.Join(who, ", ")
}
