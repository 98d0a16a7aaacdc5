package agent

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/dhcp6"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol/resource"
)

// bootServer answers until ctx ends. Its socket is open.
type bootServer interface {
	Run(ctx context.Context) error
}

// listen opens the boot servers' sockets, so that a busy port is a start-up
// error. They answer nothing before the agent has synced.
func (a *Agent) listen() (open []bootServer, err error) {
	for _, seg := range a.cfg.Segments {
		reg := prometheus.WrapRegistererWith(prometheus.Labels{"segment": seg.Name}, a.cfg.Registerer)
		log := a.log.With("segment", seg.Name)
		files := &boots{agent: a, leased: newLeased()}
		files.leased.load(a.store, seg.Name)
		web := func(at, at6 netip.AddrPort, certificates netboot.Certificates) error {
			s, err := httpboot.New(httpboot.Config{
				Listen: at, Listen6: at6, Certificates: certificates, Files: files, AddressFiles: files, UserData: files, Evidence: files, Events: a.streams.hooks, Trace: files.trace,
				Logger: log, Registerer: reg, Clock: a.cfg.Clock,
			})
			if err == nil {
				open = append(open, s)
			}
			return err
		}
		if err := web(seg.HTTP, seg.HTTP6, nil); err != nil {
			return nil, err
		}
		if seg.HTTPS.IsValid() || seg.HTTPS6.IsValid() {
			if err := web(seg.HTTPS, seg.HTTPS6, a.cfg.Certificates); err != nil {
				return nil, err
			}
		}
		if seg.TFTP.IsValid() || seg.TFTP6.IsValid() {
			s, err := tftp.New(tftp.Config{
				Segment: seg.Name, Listen: seg.TFTP, Listen6: seg.TFTP6, Interface: seg.Interface, Files: files, Evidence: files, Trace: files.trace,
				Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
			})
			if err != nil {
				return nil, err
			}
			open = append(open, s)
		}
		d, err := dhcp.New(dhcp.Config{
			Segment: seg.Name, Listen: seg.DHCP, Interface: seg.Interface, Resolver: a.index, Leases: a.store,
			Evidence: files, Trace: files.trace, Notify: a.notices.take, Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
			Granted: func(l netboot.Lease) {
				files.leased.note(tenant4(l))
				a.finder.Leased(l)
				a.fed(l.MAC)
			},
			Ended: func(l netboot.Lease) { files.leased.end(tenant4(l)) },
		})
		if err != nil {
			return nil, err
		}
		open = append(open, d)
		if !seg.DHCP6.IsValid() {
			continue
		}
		d6, err := dhcp6.New(dhcp6.Config{
			Segment: seg.Name, Listen: seg.DHCP6, Interface: seg.Interface, DUID: dhcp6.DUID(a.cfg.Agent + "/" + seg.Name),
			Resolver: a.index, Leases: a.store, Evidence: files, Trace: files.trace, Notify: a.notices.take,
			Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
			Granted: func(l netboot.Lease6) {
				files.leased.note(tenant6(l))
				a.fed(l.MAC)
			},
			Ended: func(l netboot.Lease6) { files.leased.end(tenant6(l)) },
		})
		if err != nil {
			return nil, err
		}
		open = append(open, d6)
	}
	return open, nil
}

func (a *Agent) serve(ctx context.Context, group *errgroup.Group, open []bootServer) {
	group.Go(func() error { return a.finder.Run(ctx) })
	for _, s := range open {
		group.Go(func() error { return s.Run(ctx) })
	}
}

// served are the segments that the agent has policy for and that its own file
// names: on others it looks for nothing, whatever the hub says.
func (a *Agent) served(o store.Overview) (served []resource.SegmentIntent) {
	for _, s := range o.Rack.Segments {
		if o.Synced && slices.ContainsFunc(a.cfg.Segments, func(l LocalSegment) bool { return l.Name == s.Name }) {
			served = append(served, s)
		}
	}
	return served
}

// sayUnserved says which IPv6 sides of segments the agent's own file has no server for.
func (a *Agent) sayUnserved(served []resource.SegmentIntent) {
	var names []string
	for _, s := range served {
		local := slices.IndexFunc(a.cfg.Segments, func(l LocalSegment) bool { return l.Name == s.Name })
		if s.IPv6 != nil && s.IPv6.Mode != resource.IPv6None && !a.cfg.Segments[local].DHCP6.IsValid() {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		a.reports.Clear(resource.CondIPv6NotServed)
		return
	}
	slices.Sort(names)
	a.reports.Raise(resource.CondIPv6NotServed, "no dhcp6 in the agent's file for "+strings.Join(names, ", "))
}

// BootHosts are the hosts of the https boot URLs of the segments that are served. It
// is nil before the agent is made, and before it has heard of them.
func (a *Agent) BootHosts() (hosts []string) {
	if a == nil {
		return nil
	}
	a.index.mu.RLock()
	defer a.index.mu.RUnlock()
	for _, seg := range a.index.segments {
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
