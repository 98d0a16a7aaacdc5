package agent

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent/store"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
)

// bootServers are the open servers of one local segment.
type bootServers struct {
	dhcp *dhcp.Server
	http *httpboot.Server
}

// listen opens the boot servers' sockets, so that a busy port is a start-up
// error. They answer nothing before the agent has synced.
func (a *Agent) listen() ([]bootServers, error) {
	var out []bootServers
	for _, seg := range a.cfg.Segments {
		reg := prometheus.WrapRegistererWith(prometheus.Labels{"segment": seg.Name}, a.cfg.Registerer)
		log := a.log.With("segment", seg.Name)
		h, err := httpboot.New(httpboot.Config{
			Listen: seg.HTTP, Files: boots{a}, Evidence: boots{a}, Events: a.streams.hooks, Logger: log, Registerer: reg, Clock: a.cfg.Clock,
		})
		if err != nil {
			return nil, err
		}
		d, err := dhcp.New(dhcp.Config{
			Segment: seg.Name, Listen: seg.DHCP, Interface: seg.Interface, Resolver: a.index, Leases: a.store,
			Evidence: boots{a}, Granted: a.finder.Leased, Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, bootServers{d, h})
	}
	return out, nil
}

func (a *Agent) serve(ctx context.Context, group *errgroup.Group, open []bootServers) {
	group.Go(func() error { return a.finder.Run(ctx) })
	for _, s := range open {
		group.Go(func() error { return s.dhcp.Run(ctx) })
		group.Go(func() error { return s.http.Run(ctx) })
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
