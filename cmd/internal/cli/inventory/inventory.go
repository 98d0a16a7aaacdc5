package inventory

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Annotation says by which address or name Ansible reaches the system of a server.
const Annotation = "ansible_host"

// Host is one server and what is known of where it is.
type Host struct {
	Server *resource.Server
	Rack   string
	Labels map[string]string // its own and its rack's
	// Reservations are those of its segment.
	Reservations []resource.Reservation
}

// Inventory is what Ansible asks for with --list. It prints as that JSON.
type Inventory struct {
	groups map[string][]string
	hosts  map[string]map[string]any
	// LeftOut are variables that Ansible would run as a template or take for an option: n1 ansible_host.
	LeftOut []string
}

// group is a group before it has a name that Ansible takes.
type group struct{ kind, key, value string }

// New makes the inventory of hosts, whose names are their own.
func New(hosts []Host) *Inventory {
	inv := &Inventory{groups: map[string][]string{}, hosts: map[string]map[string]any{}}
	members := map[group][]string{}
	for _, h := range hosts {
		name := h.Server.Metadata.Name
		inv.hosts[name] = inv.variables(h)
		for _, g := range groupsOf(h) {
			members[g] = append(members[g], name)
		}
	}
	for g, name := range named(slices.Collect(maps.Keys(members))) {
		inv.groups[name] = slices.Sorted(slices.Values(members[g]))
	}
	slices.Sort(inv.LeftOut)
	return inv
}

// groupsOf are the groups of a server: its rack, its phase, its claim, and each label.
func groupsOf(h Host) []group {
	s := h.Server.Status
	var out []group
	for _, g := range []group{{"rack", "", h.Rack}, {"phase", "", string(s.Phase)}, {"claim", "", s.Claim}} {
		if g.value != "" {
			out = append(out, g)
		}
	}
	for k, v := range h.Labels {
		out = append(out, group{"label", k, v})
	}
	return out
}

// named gives groups names that Ansible takes: letters, digits and _. Where two would have the same name, each has a
// hash of what it is behind it, so that none has the servers of another.
func named(all []group) map[group]string {
	times := map[string]int{}
	for _, g := range all {
		times[g.plain()]++
	}
	out := map[group]string{}
	for _, g := range all {
		name := g.plain()
		if times[name] > 1 {
			name += fmt.Sprintf("_%x", sha256.Sum256([]byte(g.kind+"\x00"+g.key+"\x00"+g.value)))[:9]
		}
		out[g] = name
	}
	return out
}

func (g group) plain() string {
	parts := []string{g.kind}
	for _, p := range []string{g.key, g.value} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return '_'
	}, strings.Join(parts, "_"))
}

// variables are those of a server. There is no param and no annotation among them: those may be secret.
func (inv *Inventory) variables(h Host) map[string]any {
	spec, st := h.Server.Spec, h.Server.Status
	arch := h.Server.Architecture()
	out := map[string]any{}
	for name, text := range map[string]string{
		"rackboot_rack": h.Rack, "rackboot_segment": spec.SegmentRef.Name, "rackboot_phase": string(st.Phase), "rackboot_claim": st.Claim,
		"rackboot_boot_mac": spec.BootMAC, "rackboot_uuid": spec.UUID, "rackboot_architecture": arch, "rackboot_os": st.OS, "rackboot_bootenv": st.BootEnv,
	} {
		if templated(text) {
			inv.leaveOut(h, name)
		} else if text != "" {
			out[name] = text
		}
	}
	labels := map[string]string{}
	for k, v := range h.Labels {
		if templated(k) || templated(v) {
			inv.leaveOut(h, "rackboot_labels")
			continue
		}
		labels[k] = v
	}
	out["rackboot_labels"] = labels
	if address, bad := address(h); bad {
		inv.leaveOut(h, "ansible_host")
	} else if address != "" {
		out["ansible_host"] = address
	}
	return out
}

func (inv *Inventory) leaveOut(h Host, variable string) {
	if text := h.Server.Metadata.Name + " " + variable; !slices.Contains(inv.LeftOut, text) {
		inv.LeftOut = append(inv.LeftOut, text)
	}
}

// templated reports whether Ansible would run a text: it takes each variable for a template of Jinja, with which
// one may run programs where Ansible runs. A key that begins with __ansible_ has it take the whole mapping for
// something else, as a vault.
func templated(s string) bool {
	return strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#") || strings.HasPrefix(s, "__ansible_")
}

// address is where the system of a server is reached; empty if that is not known here. It is that of the annotation, or
// the address that the server's segment reserves for it, and never that of its BMC. bad says that the annotation is
// neither an address nor a host name: ssh would take it for an option.
//
//	annotation | reservation | address
//	good       | *           | the annotation
//	bad        | *           | none, and bad
//	none       | one         | the reservation
//	none       | none        | none
func address(h Host) (address string, bad bool) {
	if a, given := h.Server.Metadata.Annotations[Annotation]; given {
		if !reachable(a) {
			return "", true
		}
		return a, false
	}
	macs := append([]string{h.Server.Spec.BootMAC}, h.Server.Spec.MACs...)
	for _, r := range h.Reservations {
		mac, err := net.ParseMAC(r.MAC)
		if err == nil && slices.Contains(macs, mac.String()) || r.MAC == "" && r.UUID != "" && strings.EqualFold(r.UUID, h.Server.Spec.UUID) {
			return r.Address, false
		}
	}
	return "", false
}

// reachable reports whether a text is an IP address or a host name (RFC 1123, section 2.1).
func reachable(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		plain := strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
		if label == "" || len(label) > 63 || !plain || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// Host is the variables of a host; ok is false of one that there is not.
func (inv *Inventory) Host(name string) (vars map[string]any, ok bool) {
	vars, ok = inv.hosts[name]
	return vars, ok
}

// MarshalJSON is the form of Ansible's inventory scripts: groups by name, all with its groups, and the variables of
// all hosts in _meta, so that Ansible asks for no host by itself.
func (inv *Inventory) MarshalJSON() ([]byte, error) {
	type members struct {
		Hosts    []string `json:"hosts,omitempty"`
		Children []string `json:"children,omitempty"`
	}
	out := map[string]any{"_meta": map[string]any{"hostvars": inv.hosts}}
	for name, hosts := range inv.groups {
		out[name] = members{Hosts: hosts}
	}
	out["all"] = members{Hosts: slices.Sorted(maps.Keys(inv.hosts)), Children: slices.Sorted(maps.Keys(inv.groups))}
	return json.Marshal(out)
}
