package redfish

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// Operations, as they stand in errors and metrics.
const (
	opObserve      = "bmc.observe"
	opCapabilities = "bmc.capabilities"
	opSetBoot      = "bmc.set_boot"
	opReset        = "bmc.reset"
)

// driver drives one system.
type driver struct {
	server string
	logger *slog.Logger
	link   *link
	leave  func()

	mu        sync.Mutex
	systemURI string          // found once if not given
	infoTypes []bmc.ResetType // from ActionInfo, which is read once
}

var _ bmc.Driver = (*driver)(nil)

func (d *driver) call(ctx context.Context, op string) *call {
	return &call{ctx: ctx, op: op, link: d.link}
}

// read gets the system now.
func (d *driver) read(c *call) (*system, error) {
	d.mu.Lock()
	uri := d.systemURI
	d.mu.Unlock()
	if uri == "" {
		s, err := d.find(c)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		d.systemURI = s.ODataID
		d.mu.Unlock()
		return s, nil
	}
	s, err := get[system](c, uri)
	if err != nil {
		return nil, err
	}
	s.ODataID = uri
	return s, nil
}

// Observe reads the system with a single GET.
func (d *driver) Observe(ctx context.Context) (protocol.Observation, error) {
	s, err := d.read(d.call(ctx, opObserve))
	o := protocol.Observation{Server: d.server, ReadAt: time.Now(), Source: protocol.SourcePoll}
	if err != nil {
		o.Power, o.Code, o.Error = powerFor(err), protocol.CodeOf(err), err.Error()
		return o, err
	}
	o.Power, o.Override, o.BootProgress, o.LastResetTime = s.power, s.override, s.progress, s.lastResetTime
	if s.power == protocol.PowerUnknown {
		e := protocol.Errorf(protocol.CodeUnavailable, opObserve, "BMC %s reports the power state %.40q", d.link.base, s.powerWord).
			WithHint("the BMC may still be starting; the state counts as unknown until it reports one")
		o.Code, o.Error = e.Code, e.Error()
		return o, e
	}
	return o, nil
}

// Capabilities reads the system and, where its reset types are not inline, the
// ActionInfo of the reset.
func (d *driver) Capabilities(ctx context.Context) (bmc.Capabilities, error) {
	c := d.call(ctx, opCapabilities)
	s, err := d.read(c)
	if err != nil {
		return bmc.Capabilities{}, err
	}
	return bmc.Capabilities{
		Vendor:  s.manufacturer,
		Model:   s.model,
		Targets: s.targets,
		Resets:  d.resetTypes(c, s),
	}, nil
}

// Close frees the connections; calls that run end as they would, later ones are
// unavailable. There is no session to end.
func (d *driver) Close() error {
	d.link.closed.Store(true)
	d.leave()
	d.link.client.CloseIdleConnections()
	return nil
}
