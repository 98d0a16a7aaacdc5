package agent

import (
	"context"
	"net/netip"
	"net/url"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
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
		web := func(at netip.AddrPort, certificates netboot.Certificates) error {
			s, err := httpboot.New(httpboot.Config{
				Listen: at, Certificates: certificates, Files: files, AddressFiles: files, Evidence: files, Events: a.streams.hooks,
				Logger: log, Registerer: reg, Clock: a.cfg.Clock,
			})
			if err == nil {
				open = append(open, s)
			}
			return err
		}
		if err := web(seg.HTTP, nil); err != nil {
			return nil, err
		}
		if seg.HTTPS.IsValid() {
			if err := web(seg.HTTPS, a.cfg.Certificates); err != nil {
				return nil, err
			}
		}
		if seg.TFTP.IsValid() {
			s, err := tftp.New(tftp.Config{
				Segment: seg.Name, Listen: seg.TFTP, Interface: seg.Interface, Files: files, Evidence: files,
				Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
			})
			if err != nil {
				return nil, err
			}
			open = append(open, s)
		}
		d, err := dhcp.New(dhcp.Config{
			Segment: seg.Name, Listen: seg.DHCP, Interface: seg.Interface, Resolver: a.index, Leases: a.store,
			Evidence: files, Notify: a.notices.take, Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
			Granted: func(l netboot.Lease) {
				files.leased.note(l)
				a.finder.Leased(l)
			},
		})
		if err != nil {
			return nil, err
		}
		open = append(open, d)
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
func (a *Agent) served(o store.Overview) (served []protocol.SegmentIntent) {
	for _, s := range o.Rack.Segments {
		if o.Synced && slices.ContainsFunc(a.cfg.Segments, func(l LocalSegment) bool { return l.Name == s.Name }) {
			served = append(served, s)
		}
	}
	return served
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
		if u, err := url.Parse(seg.BaseURL); err == nil && u.Scheme == "https" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}
