package boot

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Way is how a BMC reaches the images of its servers.
type Way struct {
	Base string // scheme and authority
	// Private says that what is fetched is read by nobody else: by HTTPS, or because the
	// agent's own file says so of the segment.
	Private bool
}

// MediaWay is the way of a server's BMC: an address of its own on the BMC's segment, and
// that of the segment that the server boots from otherwise.
func (r *Room) MediaWay(in message.ServerIntent) (Way, error) {
	seg, base := baseFor(in.BMC.Address, in.Segment, r.index.served(r.cfg.Segments))
	if base == "" {
		return Way{}, protocol.Errorf(protocol.CodeUnsupported, "find the way of virtual media", "no segment of BMC %s has an HTTP server of this agent", in.BMC.Name).
			WithHint("add the Segment that the BMC is on, of role bmc or both, to the rack and to the agent's file")
	}
	i := slices.IndexFunc(r.cfg.Segments, func(l LocalSegment) bool { return l.Name == seg })
	return Way{Base: base, Private: strings.HasPrefix(base, "https://") || i >= 0 && r.cfg.Segments[i].TrustedMedia}, nil
}

// URL is that of a file of a medium.
func (w Way) URL(token, name string) string { return netboot.BootURL(w.Base, token, name) }

// Own begins the URLs of all images of this agent.
func (w Way) Own() string { return w.Base + netboot.PathPrefix }

// HostBase is what the host of a segment finds the agent by.
func (r *Room) HostBase(segment string) (string, bool) {
	seg, ok := r.index.Segment(segment)
	if !ok {
		return "", false
	}
	base, err := netboot.BaseURL(seg)
	return base, err == nil
}

// baseFor is the name and the base URL of the segment that the BMC is on, else of another
// one of BMCs, else of the one that its server boots from.
func baseFor(address, boots string, served []resource.SegmentIntent) (name, base string) {
	host, _ := netip.ParseAddr(hostnameOf(address)) // a name is in no prefix
	rank := 0
	for _, seg := range served {
		r := 0
		switch {
		case !seg.Role.HasBMCs() && seg.Name != boots:
			continue
		case seg.Prefix.Contains(host):
			r = 3
		case seg.Role.HasBMCs():
			r = 2
		default:
			r = 1
		}
		if url, err := netboot.BaseURL(seg); err == nil && r > rank {
			name, base, rank = seg.Name, url, r
		}
	}
	return name, base
}

// hostnameOf is the host of a BMC's address, without the port.
func hostnameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Destination implements stream.Destination.
func (r *Room) Destination(server, address string) (base string, err error) {
	o, err := r.cfg.Store.Servers.Overview()
	if err != nil {
		return "", err
	}
	boots := ""
	if i := slices.IndexFunc(o.Intents, func(in store.Intent) bool { return in.Server == server }); i >= 0 {
		boots = o.Intents[i].Segment
	}
	_, base = baseFor(address, boots, r.Served(o))
	if base == "" {
		return "", protocol.Errorf(protocol.CodeUnavailable, "webhook", "no segment of BMC %s has an HTTP server of this agent", address).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return base, nil
}
