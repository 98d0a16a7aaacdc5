package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// connection is a server's BMC driver, opened again when the way to it or its
// credentials change. It is the server's loop's, but for can.
type connection struct {
	cfg     *Config
	log     *slog.Logger
	server  string
	signals *signals
	board   *board

	driver  bmc.Driver
	can     atomic.Pointer[abilities] // of the driver; nil without one
	account string                    // that the last read was to be made with
	made    string                    // what the driver was made from
	address string                    // of its BMC
	lost    bool                      // the BMC did not answer the last read
	known   bmc.SystemID              // the machine that it is to be
	logged  time.Time
}

// abilities are what a driver can do that not all can. What boot clients do is decided
// about in their servers' goroutines, beside the loop that opens and closes the driver.
type abilities struct{ guard, media, uri bool }

func (c *connection) use(d bmc.Driver) {
	_, guard := d.(bmc.RestorePolicer)
	_, media := d.(bmc.MediaDriver)
	c.driver = d
	_, uri := d.(bmc.URIBooter)
	c.can.Store(&abilities{guard, media, uri})
}

// close ends the BMC's event stream, if it is read through this driver, and then the
// driver.
func (c *connection) close() {
	if c.driver != nil {
		c.cfg.Streams.Leave(c.address, c.signals)
		_ = c.driver.Close() // the session ends by itself if this fails
		c.driver = nil
		c.can.Store(nil)
	}
}

// observe reads the system now. Refused credentials are not tried again until they
// change, so that the BMC does not lock the account.
func (c *connection) observe(ctx context.Context, in message.ServerIntent) reading {
	w, err := c.cfg.Accounts.Way(c.server, in.BMC, in.SystemURI)
	if err != nil {
		c.close()
		return reading{obs: unreachable(c.server, c.cfg.Clock(), protocol.CodeDenied, err), cond: &resource.ConditionState{Code: resource.ConditionOf(err), Message: err.Error()}}
	}
	if c.account != w.Account { // the one of before may come back, and be right then
		c.cfg.Denied.Forget(c.account)
		c.account = w.Account
	}
	if why, denied := c.cfg.Denied.Of(w.Account); denied {
		return reading{cond: &resource.ConditionState{Code: resource.CondBMCDenied, Message: why + "; not tried again until the credentials change"}}
	}
	if c.driver == nil || c.made != w.Made {
		c.close()
		d, err := c.cfg.OpenBMC(w.Target)
		if err != nil {
			return reading{obs: unreachable(c.server, c.cfg.Clock(), protocol.CodeOf(err), err), cond: &resource.ConditionState{Code: resource.CondBMCUnreachable, Message: err.Error()}}
		}
		c.use(d)
		c.made, c.address = w.Made, in.BMC.Address
		host := hostOf(in.BMC.Address)
		c.board.host.Store(&host)
		c.board.reread()
	}
	expect(c.driver, c.known)
	source := protocol.SourcePoll
	if c.signals.woken.Swap(false) {
		source = protocol.SourceEvent
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	started := c.cfg.Clock()
	o, err := c.driver.Observe(call)
	o.Server, o.StartedAt, o.ReadAt = c.server, started, c.cfg.Clock()
	if o.Source == "" || o.Source == protocol.SourcePoll {
		o.Source = source
	}
	if protocol.CodeOf(err) == protocol.CodeDenied {
		c.cfg.Denied.Note(w.Account, err.Error())
	}
	c.follow(ctx, err)
	if err == nil {
		c.readLog(call, &o)
	}
	r := reading{obs: &o}
	r.busy, r.retryAfter = pause(err)
	return r
}

// look reads with the driver that there is where the way to the BMC is on a disk that
// cannot be read.
func (c *connection) look(ctx context.Context, in message.ServerIntent) reading {
	if c.driver == nil {
		return c.observe(ctx, in)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	started := c.cfg.Clock()
	o, err := c.driver.Observe(ctx)
	o.Server, o.StartedAt, o.ReadAt = c.server, started, c.cfg.Clock()
	r := reading{obs: &o}
	r.busy, r.retryAfter = pause(err)
	return r
}

// logEvery is how often the log is read that tells of power cycles.
const logEvery = time.Minute

// readLog adds what the BMC's log says last about power, where nothing else tells of a
// power cycle between two reads. It is read after the power state, and not each time: a
// log is long. That it cannot be read makes the observation no worse.
func (c *connection) readLog(ctx context.Context, o *protocol.Observation) {
	d, ok := c.driver.(bmc.PowerLogger)
	log := c.board.powerLog.Load()
	if !ok || log == nil || *log == "" || o.Power == protocol.PowerOff || o.StartedAt.Sub(c.logged) < logEvery {
		return
	}
	c.logged = o.StartedAt
	entry, err := d.PowerLog(ctx, *log)
	if err != nil {
		c.log.Debug("the BMC's log cannot be read", "err", err)
		return
	}
	o.PowerLog = entry
}

// follow takes over whether the BMC answers: one that is back may be another, and one
// that answers is listened to.
func (c *connection) follow(ctx context.Context, err error) {
	if err != nil {
		c.lost = true
		return
	}
	if c.lost {
		c.lost = false
		c.board.reread()
		c.cfg.Streams.Back(c.address)
	}
	if src, ok := c.driver.(bmc.EventSource); ok {
		c.cfg.Streams.Follow(ctx, c.address, src, c.signals)
	}
}
