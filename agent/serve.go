package agent

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
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
			Listen: seg.HTTP, Files: boots{a}, Evidence: boots{a}, Logger: log, Registerer: reg, Clock: a.cfg.Clock,
		})
		if err != nil {
			return nil, err
		}
		d, err := dhcp.New(dhcp.Config{
			Segment: seg.Name, Listen: seg.DHCP, Interface: seg.Interface, Resolver: a.index, Leases: a.store,
			Evidence: boots{a}, Logger: log, Registerer: a.cfg.Registerer, Clock: a.cfg.Clock,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, bootServers{d, h})
	}
	return out, nil
}

func (a *Agent) serve(ctx context.Context, group *errgroup.Group, open []bootServers) {
	for _, s := range open {
		group.Go(func() error { return s.dhcp.Run(ctx) })
		group.Go(func() error { return s.http.Run(ctx) })
	}
}
