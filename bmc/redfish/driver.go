package redfish

import (
	"context"
	"log/slog"
	"net/http"
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
	irmc      *string         // see irmcOf; nil: not looked for
	resetAt   string          // target of the reset action, as last read
	learned   *learnedReset   // nil: the system is read before a reset
	future    string          // settings that the system does not link to
	givenURI  string          // as somebody gave it; empty if it is found
	expected  bmc.SystemID    // see Expect
	followed  bool            // systemURI is where the machine was found again
	looked    time.Time       // when the system was last looked for
	lost      error           // what came of that; nil if it was found, or none fits
	order     *order          // of the last reset, while its Task runs; nil without one
	shown     *shown          // nil: Observe reports what it reads

	subscribed string // what Subscribe made
}

var (
	_ bmc.Driver         = (*driver)(nil)
	_ bmc.Lister         = (*driver)(nil)
	_ bmc.Inventorier    = (*driver)(nil)
	_ bmc.Prober         = (*driver)(nil)
	_ bmc.MediaDriver    = (*driver)(nil)
	_ bmc.RestorePolicer = (*driver)(nil)
	_ bmc.EventSource    = (*driver)(nil)
	_ bmc.Subscriber     = (*driver)(nil)
	_ bmc.Accounts       = (*driver)(nil)
	_ bmc.Finder         = (*driver)(nil)
)

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
		d.learn(s)
		d.mu.Unlock()
		return s, nil
	}
	s, err := get[system](c, uri)
	if status, _, refused := refusal(err); refused && status == http.StatusNotFound {
		err = refault(err, protocol.FaultGone, "the system is no more at its path, and no other at the BMC is known to be the same machine; correct its system URI")
		s, err = d.locate(c, uri, err)
	} else if err == nil {
		s.located(uri)
		err = d.stranger(c, s)
	}
	if err != nil {
		d.forgetReset()
		return nil, err
	}
	d.mu.Lock()
	d.learn(s)
	if s.settings == "" {
		s.settings = d.future
	}
	d.mu.Unlock()
	return s, nil
}

// irmcOf is where this system's override is if it is in a vendor's resource;
// empty elsewhere. It is looked for once; a system that has none of what its
// vendor is known for is taken as standard.
func (d *driver) irmcOf(c *call, s *system) (string, error) {
	if s.irmc != "" || len(s.profile.oemBoot) == 0 {
		return s.irmc, nil
	}
	d.mu.Lock()
	known := d.irmc
	d.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	found := ""
	for _, path := range s.profile.oemBoot {
		_, err := get[object](c, s.ODataID+path)
		if status, _, refused := refusal(err); err != nil && (!refused || status != http.StatusNotFound) {
			return "", err
		}
		if err == nil {
			found = s.ODataID + path
			break
		}
	}
	d.mu.Lock()
	d.irmc = &found
	d.mu.Unlock()
	return found, nil
}

// Observe reads the system with a single GET, without If-None-Match: no ETag of
// a BMC is known to change with every change of the power state, and a 304 that
// is wrong would prove an Off that is none. Only while an override waits in the
// settings, those are read as well.
func (d *driver) Observe(ctx context.Context) (protocol.Observation, error) {
	c := d.call(ctx, opObserve)
	s, err := d.read(c)
	o := protocol.Observation{Server: d.server, ReadAt: time.Now(), Source: protocol.SourcePoll}
	if err != nil {
		o.Power, o.Code, o.Error, o.Fault = powerFor(err), protocol.CodeOf(err), err.Error(), bmc.FaultOf(err)
		return o, err
	}
	o.Power, o.BootProgress, o.LastResetTime = s.power, s.progress, s.lastResetTime
	o.OEMProgress, o.SystemState = s.oemProgress, s.state
	o.Override = d.overrideOf(c, s)
	o.Fault = d.link.account.full()
	o.Order = d.orderFault(c, s.power)
	if s.power == protocol.PowerUnknown {
		e := protocol.Errorf(protocol.CodeUnavailable, opObserve, "BMC %s reports the power state %.40q", d.link.base, s.powerWord).
			WithHint("the BMC may still be starting; the state counts as unknown until it reports one")
		o.Code, o.Error, o.Fault = e.Code, e.Error(), protocol.BMCFault{Kind: protocol.FaultPower, Text: printable(s.powerWord)}
		return o, e
	}
	return o, nil
}

// overrideOf is the override that the BMC holds, in the words of the last
// SetBoot for as long as it is that one. The power state is from before, so that
// it is never younger than it says.
func (d *driver) overrideOf(c *call, s *system) protocol.Override {
	d.mu.Lock()
	last := d.shown
	d.mu.Unlock()
	main := s.boot.override
	if irmc, err := d.irmcOf(c, s); irmc != "" || err != nil {
		if o, errGet := get[object](c, irmc); err == nil && errGet == nil {
			return decodeIRMC(irmc, "", o.f).override
		}
		return protocol.Override{}
	}
	if last == nil {
		return main
	}
	if last.pending && !main.Armed() && s.settings != "" {
		o, err := get[object](c, s.settings)
		if err != nil || decodeBoot(s.settings, "", o.f["Boot"]).override == last.read {
			return last.want // without news it still counts as armed
		}
	}
	if main == last.read { // what waited has reached the system
		d.remember(&shown{want: last.want, read: last.read})
		return last.want
	}
	d.remember(nil)
	return main
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
		Targets: s.boot.targets,
		Resets:  d.resetTypes(c, s),
	}, nil
}

// Close ends the session if no other driver uses it, and frees the connections;
// calls that run end as they would, later ones are unavailable.
func (d *driver) Close() error {
	d.link.closed.Store(true)
	d.leave()
	return nil
}
