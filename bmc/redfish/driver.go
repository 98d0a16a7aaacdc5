package redfish

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// driver drives one system. It has no state but its parts, and hands on.
type driver struct {
	server string
	link   *link
	leave  func()

	locator       *locator
	power         *power
	clock         *managerClock
	glances       *glances
	overrides     *overrides
	media         *media
	restorePolicy *restorePolicy
	inventory     *inventory
	firmware      *firmwareWriter
	accounts      *accounts
	events        *events
	subscriber    *subscriber
}

var (
	_ bmc.Driver         = (*driver)(nil)
	_ bmc.URIBooter      = (*driver)(nil)
	_ bmc.Lister         = (*driver)(nil)
	_ bmc.Inventorier    = (*driver)(nil)
	_ bmc.Prober         = (*driver)(nil)
	_ bmc.FirmwareReader = (*driver)(nil)
	_ bmc.FirmwareWriter = (*driver)(nil)
	_ bmc.MediaDriver    = (*driver)(nil)
	_ bmc.RestorePolicer = (*driver)(nil)
	_ bmc.PowerLogger    = (*driver)(nil)
	_ bmc.EventSource    = (*driver)(nil)
	_ bmc.Subscriber     = (*driver)(nil)
	_ bmc.Accounts       = (*driver)(nil)
	_ bmc.Finder         = (*driver)(nil)
)

// newDriver puts the parts of a driver together. leave is called by Close.
func newDriver(config Config, target bmc.Target, l *link, leave func()) *driver {
	logger := config.Logger.With("server", target.Server, "bmc", l.base.Host)
	known := newLearned()
	at := newLocator(target.SystemURI, known, logger)
	p := newPower(l, at, known, logger)
	o, restore := newOverrides(l, at, known, logger), newRestorePolicy(l, at)
	return &driver{
		server: target.Server, link: l, leave: leave,
		locator: at, power: p, overrides: o, clock: new(managerClock), glances: new(glances),
		media:         newMedia(l, at),
		restorePolicy: restore,
		firmware:      newFirmwareWriter(l, at, restore),
		inventory:     newInventory(l, at, p, o),
		accounts:      newAccounts(l, at),
		events:        newEvents(l, config.RequestTimeout, config.StreamIdle),
		subscriber:    newSubscriber(l),
	}
}

// Observe reads the system with a single GET, without If-None-Match: no ETag of
// a BMC is known to change with every change of the power state, and a 304 that
// is wrong would prove an Off that is none. Only while an override waits in the
// settings, those are read as well, and where LastResetTime is another, the manager's clock.
func (d *driver) Observe(ctx context.Context) (protocol.Observation, error) {
	c := newCall(ctx, opObserve, d.link)
	s, err := d.glances.read(c, d.locator)
	o := protocol.Observation{Server: d.server, ReadAt: time.Now(), Source: protocol.SourcePoll}
	if err != nil {
		o.Power, o.Code, o.Error, o.Fault = powerFor(err), protocol.CodeOf(err), err.Error(), bmc.FaultOf(err)
		return o, err
	}
	o.Power, o.BootProgress, o.LastResetTime = s.power, s.progress, s.lastResetTime
	o.OEMProgress, o.SystemState = s.oemProgress, s.state
	o.ManagerTime = d.clock.beside(ctx, d.link, s)
	o.Override = d.overrides.of(c, s)
	o.Fault = d.link.sessionFault()
	o.Order = d.power.orderFault(c, s.power)
	if s.power == protocol.PowerUnknown {
		e := protocol.Errorf(protocol.CodeUnavailable, opObserve, "BMC %s reports the power state %.40q", d.link.base, s.powerWord).
			WithHint("the BMC may still be starting; the state counts as unknown until it reports one")
		o.Code, o.Error, o.Fault = e.Code, e.Error(), protocol.BMCFault{Kind: protocol.FaultPower, Text: printable(s.powerWord)}
		return o, e
	}
	return o, nil
}

// Capabilities reads the system and, where its reset types are not inline, the
// ActionInfo of the reset.
func (d *driver) Capabilities(ctx context.Context) (bmc.Capabilities, error) {
	c := newCall(ctx, opCapabilities, d.link)
	s, err := d.locator.read(c)
	if err != nil {
		return bmc.Capabilities{}, err
	}
	return bmc.Capabilities{
		Vendor:  s.manufacturer,
		Model:   s.model,
		Targets: s.boot.targets,
		Resets:  d.power.types(c, s),
	}, nil
}

// Close ends the session if no other driver uses it, and frees the connections;
// calls that run end as they would, later ones are unavailable.
func (d *driver) Close() error {
	d.link.close()
	d.leave()
	return nil
}

// Expect implements bmc.Finder.
func (d *driver) Expect(id bmc.SystemID) { d.locator.expect(id) }

// SetBoot implements bmc.Driver.
func (d *driver) SetBoot(ctx context.Context, want protocol.Override) (bmc.BootResult, error) {
	return d.overrides.set(ctx, want, "")
}

// SetBootURI implements bmc.URIBooter.
func (d *driver) SetBootURI(ctx context.Context, want protocol.Override, uri string) (bmc.BootResult, error) {
	return d.overrides.setURI(ctx, want, uri)
}

// ClearBootURI implements bmc.URIBooter.
func (d *driver) ClearBootURI(ctx context.Context, ours func(uri string) bool) (pending bool, err error) {
	return d.overrides.clearURI(ctx, ours)
}

// Reset implements bmc.Driver.
func (d *driver) Reset(ctx context.Context, reset bmc.ResetType) error {
	return d.power.reset(ctx, reset)
}

// PowerLog implements bmc.PowerLogger.
func (d *driver) PowerLog(ctx context.Context, entries string) (string, error) {
	return readPowerLog(newCall(ctx, opPowerLog, d.link), entries)
}

// InsertMedia implements bmc.MediaDriver.
func (d *driver) InsertMedia(ctx context.Context, m bmc.Media) (bmc.Inserted, error) {
	return d.media.insert(ctx, m)
}

// EjectMedia implements bmc.MediaDriver.
func (d *driver) EjectMedia(ctx context.Context, own string) error {
	return d.media.eject(ctx, own)
}

// RestorePolicy implements bmc.RestorePolicer.
func (d *driver) RestorePolicy(ctx context.Context) (protocol.RestorePolicy, error) {
	return d.restorePolicy.read(ctx)
}

// SetRestorePolicy implements bmc.RestorePolicer.
func (d *driver) SetRestorePolicy(ctx context.Context, want protocol.RestorePolicy) (before protocol.RestorePolicy, err error) {
	return d.restorePolicy.set(ctx, want)
}

// Systems implements bmc.Lister, beside power control as an inventory.
func (d *driver) Systems(ctx context.Context) ([]string, error) { return d.inventory.systems(ctx) }

// Inventory implements bmc.Inventorier.
func (d *driver) Inventory(ctx context.Context) (protocol.Inventory, error) {
	return d.inventory.read(ctx)
}

// Probe implements bmc.Prober.
func (d *driver) Probe(ctx context.Context, uri string) (protocol.Probe, error) {
	return d.inventory.probe(ctx, uri)
}

// Firmware implements bmc.FirmwareReader.
func (d *driver) Firmware(ctx context.Context, names []string) (protocol.Firmware, error) {
	return d.inventory.firmware(ctx, names)
}

// WriteFirmware implements bmc.FirmwareWriter.
func (d *driver) WriteFirmware(ctx context.Context, changes []protocol.FirmwareChange) ([]bmc.FirmwareWritten, error) {
	return d.firmware.write(ctx, changes)
}

// Prove implements bmc.Accounts.
func (d *driver) Prove(ctx context.Context) error { return d.accounts.prove(ctx) }

// PutAccount implements bmc.Accounts.
func (d *driver) PutAccount(ctx context.Context, want bmc.Credentials, role bmc.Role) error {
	return d.accounts.put(ctx, want, role)
}

// DisableAccount implements bmc.Accounts.
func (d *driver) DisableAccount(ctx context.Context, username string) error {
	return d.accounts.disable(ctx, username)
}

// Events implements bmc.EventSource. End ctx before Close.
func (d *driver) Events(ctx context.Context, wake func()) error { return d.events.read(ctx, wake) }

// Subscribe implements bmc.Subscriber.
func (d *driver) Subscribe(ctx context.Context, destination, mark string) error {
	return d.subscriber.subscribe(ctx, destination, mark)
}

// Check implements bmc.Subscriber.
func (d *driver) Check(ctx context.Context) (bool, error) { return d.subscriber.check(ctx) }

// Unsubscribe implements bmc.Subscriber.
func (d *driver) Unsubscribe(ctx context.Context) error { return d.subscriber.unsubscribe(ctx) }
