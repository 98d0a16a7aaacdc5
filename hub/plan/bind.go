package plan

import (
	"fmt"

	"rackboot/protocol"
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

// Bind gives servers to claims that have none, in order of name. A server goes
// to one claim only. By name, a server is taken whatever it does; by selector,
// only one that is free, not held, and was last read Off, so that nothing that
// runs is ever taken by a label.
//
//	by       | taken | held | read | binds
//	name     | yes   | *    | *    | no
//	name     | no    | *    | *    | yes
//	selector | yes   | *    | *    | no
//	selector | no    | yes  | *    | no
//	selector | no    | no   | Off  | yes
//	selector | no    | no   | else | no
func Bind(f Fleet) (bindings []Binding, unbound []Unbound) {
	f = f.Indexed()
	taken := map[string]bool{}
	for _, c := range f.Claims {
		if c.Status.Server != "" {
			taken[c.Status.Server] = true
		}
	}
	for _, c := range f.Claims {
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

func pick(f Fleet, c *protocol.Claim, taken map[string]bool) (server, reason string) {
	if ref := c.Spec.ServerRef; ref != nil {
		switch {
		case f.server(ref.Name) == nil:
			return "", fmt.Sprintf("server %s does not exist", ref.Name)
		case !binds(true, taken[ref.Name], false, false):
			return "", fmt.Sprintf("server %s has another claim", ref.Name)
		}
		return ref.Name, ""
	}
	matched := 0
	for _, s := range f.Servers {
		if !matches(c.Spec.ServerSelector, s.Metadata.Labels) {
			continue
		}
		matched++
		name := s.Metadata.Name
		r := f.Reports[name]
		off := r != nil && r.Observation.Power == protocol.PowerOff
		if binds(false, taken[name], f.held(name), off) {
			return name, ""
		}
	}
	if matched == 0 {
		return "", "no server has the labels of its selector"
	}
	return "", fmt.Sprintf("%d servers match, and none of them is free, not held and read Off", matched)
}

func binds(byName, taken, held, off bool) bool {
	return !taken && (byName || !held && off)
}

func matches(s *protocol.Selector, labels map[string]string) bool {
	for k, v := range s.MatchLabels {
		if labels[k] != v {
			return false
		}
	}
	return len(s.MatchLabels) > 0
}
