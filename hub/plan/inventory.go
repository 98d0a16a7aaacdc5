package plan

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Discovery is what follows from the inventory of a BMC.
type Discovery struct {
	New  []*resource.Server // to be made
	Have []string           // systems, by URI, that have a Server already
	// Problems say why no Server can be made, Differs by server what it says that the
	// BMC does not.
	Problems []string
	Differs  map[string][]string
}

// Discover holds the systems behind a BMC against its servers. A server that there
// is is never changed, and one of a system that is among made is not made again:
// somebody deleted it.
//
//	server | made | segment | interface | name  | then
//	yes    | *    | *       | *         | *     | compare
//	no     | yes  | *       | *         | *     | nothing
//	no     | no   | not one | *         | *     | problem
//	no     | no   | one     | no        | *     | problem
//	no     | no   | one     | yes       | taken | problem
//	no     | no   | one     | yes       | free  | make
func Discover(f Fleet, b *resource.BMC, systems []protocol.Inventory, made []string) (d Discovery) {
	d.Differs = map[string][]string{}
	segment, whySegment := bootSegment(f, b.Spec.RackRef.Name)
	servers := f.behind(b.Metadata.Name)
	seen, names := map[*resource.Server]bool{}, map[string]bool{}
	for _, sys := range systems {
		srv := serverFor(servers, sys.SystemURI, len(systems) == 1)
		name := systemName(b.Metadata.Name, sys.SystemURI, len(systems) == 1)
		next, whyInterface := describe(b, segment, name, sys)
		taken := f.serverNamed(name) || names[name]
		switch discovers(srv != nil, slices.Contains(made, sys.SystemURI), segment != "", next != nil, taken) {
		case thenCompare:
			seen[srv] = true
			d.Have = append(d.Have, sys.SystemURI)
			diff := differences(srv, sys)
			if why := methodDiffers(srv, f.ClaimOf(srv.Metadata.Name), sys); why != "" {
				diff = append(diff, why)
			}
			if len(diff) > 0 {
				d.Differs[srv.Metadata.Name] = diff
			}
		case thenMake:
			names[name] = true
			d.New = append(d.New, next)
		case thenProblem:
			why := fmt.Sprintf("a server %q exists already and is not of this system; apply a Server for it under another name", name)
			if segment == "" {
				why = whySegment
			} else if next == nil {
				why = whyInterface
			}
			d.Problems = append(d.Problems, sys.SystemURI+": "+why)
		case thenNothing:
		}
	}
	for _, s := range servers {
		if uri := s.Spec.SystemURI; uri != "" && !seen[s] {
			d.Differs[s.Metadata.Name] = []string{"the BMC shows no system " + uri}
		}
	}
	return d
}

type then string

const (
	thenCompare then = "compare"
	thenNothing then = "nothing"
	thenProblem then = "problem"
	thenMake    then = "make"
)

func discovers(server, made, segment, hasInterface, taken bool) then {
	switch {
	case server:
		return thenCompare
	case made:
		return thenNothing
	case !segment || !hasInterface || taken:
		return thenProblem
	}
	return thenMake
}

// bootSegment is the rack's only segment that hosts boot from.
func bootSegment(f Fleet, rack string) (name, why string) {
	var all []string
	for _, s := range f.segments(rack) {
		if s.Spec.Role.BootsHosts() {
			all = append(all, s.Metadata.Name)
		}
	}
	switch len(all) {
	case 1:
		return all[0], ""
	case 0:
		return "", fmt.Sprintf("rack %s has no segment that hosts boot from; apply one of role boot or both", rack)
	}
	return "", "hosts boot from several segments of the rack; apply a Server with segmentRef one of " + strings.Join(all, ", ")
}

// SystemServer is the server of a BMC's system, or nil; only says that it is the BMC's only one.
func (f Fleet) SystemServer(bmc, uri string, only bool) *resource.Server {
	return serverFor(f.behind(bmc), uri, only)
}

// serverFor is the server of a system, or nil.
func serverFor(servers []*resource.Server, uri string, only bool) *resource.Server {
	for _, s := range servers {
		own := strings.TrimRight(s.Spec.SystemURI, "/")
		if own == strings.TrimRight(uri, "/") || own == "" && only {
			return s
		}
	}
	return nil
}

func systemName(bmc, uri string, only bool) string {
	if only {
		return bmc
	}
	uri = strings.TrimRight(uri, "/")
	last := nameOf(uri[strings.LastIndexByte(uri, '/')+1:])
	room := max(1, maxName-len(last)-1)
	return nameOf(strings.TrimRight(bmc[:min(len(bmc), room)], "-") + "-" + last)
}

// describe makes the Server of a system; nil if it has no interface that it could
// boot from.
func describe(b *resource.BMC, segment, name string, sys protocol.Inventory) (srv *resource.Server, why string) {
	macs, boot := sys.HostMACs(), sys.BootMAC()
	if boot == "" {
		return nil, "the BMC shows no network interface of the host; some do only after the host was on once"
	}
	srv = &resource.Server{Spec: resource.ServerSpec{
		BMCRef: resource.Ref{Name: b.Metadata.Name}, SystemURI: sys.SystemURI, SegmentRef: resource.Ref{Name: segment},
		BootMAC: boot, MACs: slices.DeleteFunc(macs, func(m string) bool { return m == boot }), Architecture: sys.HostArchitecture(),
	}}
	if sys.Identifies() {
		srv.Spec.UUID = sys.UUID
	}
	srv.Metadata.Name, srv.Metadata.Labels = name, map[string]string{resource.LabelFrom: resource.FromInventory}
	srv.Default()
	return srv, ""
}

// differences are what a server says that its BMC contradicts. What the BMC does not
// say is no difference.
func differences(s *resource.Server, sys protocol.Inventory) (out []string) {
	if macs := sys.HostMACs(); len(macs) > 0 && !slices.Contains(macs, s.Spec.BootMAC) {
		out = append(out, fmt.Sprintf("bootMAC %s is of no interface that the BMC shows", s.Spec.BootMAC))
	}
	if sys.Identifies() && s.Spec.UUID != "" && !strings.EqualFold(s.Spec.UUID, sys.UUID) {
		out = append(out, fmt.Sprintf("uuid is %s, the BMC says %s", s.Spec.UUID, strings.ToLower(sys.UUID)))
	}
	if a := sys.HostArchitecture(); a != "" && s.Spec.Architecture != "" && a != s.Spec.Architecture {
		out = append(out, fmt.Sprintf("architecture is %s, the BMC says %s", s.Spec.Architecture, a))
	}
	return out
}

// methodDiffers says that the first boot of a claim comes from an interface that the server does
// not name, and that nobody would answer: firmware's devices for PXE and HTTP may be bound to
// different ones (Dell).
func methodDiffers(s *resource.Server, cl *resource.Claim, sys protocol.Inventory) string {
	if cl == nil || !slices.Contains(sys.HostMACs(), s.Spec.BootMAC) {
		return ""
	}
	kind := map[protocol.BootTarget]protocol.OptionKind{
		protocol.TargetPxe: protocol.OptionPXE, protocol.TargetUefiHTTP: protocol.OptionHTTP,
	}[cl.Spec.BootPolicy.FirstBoot.Target()]
	mac := sys.BootMACBy(kind)
	if kind == "" || mac == s.Spec.BootMAC || slices.Contains(s.Spec.MACs, mac) {
		return ""
	}
	return fmt.Sprintf("firmware boots by %s from %s, which is neither bootMAC nor in macs", cl.Spec.BootPolicy.FirstBoot, mac)
}
