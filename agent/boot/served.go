package boot

import (
	"net/url"
	"slices"
	"strings"

	"rackboot/agent/store"
	"rackboot/protocol/resource"
)

// Served are the segments that the agent has policy for and that its own file
// names: on others it looks for nothing, whatever the hub says.
func (r *Room) Served(o store.Overview) (served []resource.SegmentIntent) {
	for _, s := range o.Rack.Segments {
		if o.Synced && slices.ContainsFunc(r.cfg.Segments, func(l LocalSegment) bool { return l.Name == s.Name }) {
			served = append(served, s)
		}
	}
	return served
}

// sayUnserved says which IPv6 sides of segments the agent's own file has no server for.
func (r *Room) sayUnserved(served []resource.SegmentIntent) {
	var names []string
	for _, s := range served {
		local := slices.IndexFunc(r.cfg.Segments, func(l LocalSegment) bool { return l.Name == s.Name })
		if s.IPv6 != nil && s.IPv6.Mode != resource.IPv6None && !r.cfg.Segments[local].DHCP6.IsValid() {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		r.cfg.Reports.Clear(resource.CondIPv6NotServed)
		return
	}
	slices.Sort(names)
	r.cfg.Reports.Raise(resource.CondIPv6NotServed, "no dhcp6 in the agent's file for "+strings.Join(names, ", "))
}

// BootHosts are the hosts of the https boot URLs of the segments that are served. It
// is nil before the agent has heard of them.
func (r *Room) BootHosts() (hosts []string) {
	r.index.mu.RLock()
	defer r.index.mu.RUnlock()
	for _, seg := range r.index.segments {
		bases := []string{seg.BaseURL}
		if seg.IPv6 != nil {
			bases = append(bases, seg.IPv6.BaseURL)
		}
		for _, base := range bases {
			if u, err := url.Parse(base); err == nil && u.Scheme == "https" {
				hosts = append(hosts, u.Hostname())
			}
		}
	}
	return hosts
}
