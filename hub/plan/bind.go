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
// to one claim only, and not while it is held: a hold is not inherited. By name, a
// server is taken whatever it does else; by selector, only one that was last read Off,
// so that nothing that runs is ever taken by a label.
//
//	by       | taken | held | read | binds
//	*        | yes   | *    | *    | no
//	*        | no    | yes  | *    | no
//	name     | no    | no   | *    | yes
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
		case taken[ref.Name]:
			return "", fmt.Sprintf("server %s has another claim", ref.Name)
		case !binds(true, false, f.held(ref.Name), false):
			return "", fmt.Sprintf("server %s is held off by %s; it is bound when all holds are released", ref.Name, f.holders(ref.Name))
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
	return !taken && !held && (byName || off)
}

func matches(s *protocol.Selector, labels map[string]string) bool {
	for k, v := range s.MatchLabels {
		if labels[k] != v {
			return false
		}
	}
	return len(s.MatchLabels) > 0
}
