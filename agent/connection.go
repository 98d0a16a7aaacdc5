package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// connection is a server's BMC driver, opened again when the way to it or its
// credentials change. It is the server's loop's, but for can.
type connection struct {
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
type abilities struct{ guard, media bool }

func (c *connection) use(d bmc.Driver) {
	_, guard := d.(bmc.RestorePolicer)
	_, media := d.(bmc.MediaDriver)
	c.driver = d
	c.can.Store(&abilities{guard, media})
}

// close ends the BMC's event stream, if it is read through this driver, and then the
// driver.
func (c *connection) close(s *server) {
	if c.driver != nil {
		s.agent.streams.Leave(c.address, s)
		_ = c.driver.Close() // the session ends by itself if this fails
		c.driver = nil
		c.can.Store(nil)
	}
}

// reading is what came of a read. cond says why the BMC could not be asked at all;
// then obs is nil, or says that it is unreachable.
type reading struct {
	obs        *protocol.Observation
	cond       *resource.ConditionState
	busy       bool
	retryAfter time.Duration
}

func (r reading) fill(snap *decide.Snapshot) {
	snap.Observation, snap.BMCError, snap.Busy, snap.RetryAfter = r.obs, r.cond, r.busy, r.retryAfter
}

// observe reads the system now. Refused credentials are not tried again until they
// change, so that the BMC does not lock the account.
func (c *connection) observe(ctx context.Context, s *server, in message.ServerIntent) reading {
	a := s.agent
	w, err := a.accounts.Way(s.name, in.BMC, in.SystemURI)
	if err != nil {
		c.close(s)
		return reading{obs: unreachable(s, in, protocol.CodeDenied, err), cond: &resource.ConditionState{Code: credentialsCondition(in.BMC), Message: err.Error()}}
	}
	if c.account != w.Account { // the one of before may come back, and be right then
		a.denied.Forget(c.account)
		c.account = w.Account
	}
	if why, denied := a.denied.Of(w.Account); denied {
		return reading{cond: &resource.ConditionState{Code: resource.CondBMCDenied, Message: why + "; not tried again until the credentials change"}}
	}
	if c.driver == nil || c.made != w.Made {
		c.close(s)
		d, err := a.cfg.OpenBMC(w.Target)
		if err != nil {
			return reading{obs: unreachable(s, in, protocol.CodeOf(err), err), cond: &resource.ConditionState{Code: resource.CondBMCUnreachable, Message: err.Error()}}
		}
		c.use(d)
		c.made, c.address = w.Made, in.BMC.Address
		host := hostOf(in.BMC.Address)
		s.host.Store(&host)
		s.reread()
	}
	expect(c.driver, c.known)
	source := protocol.SourcePoll
	if s.woken.Swap(false) {
		source = protocol.SourceEvent
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	started := a.cfg.Clock()
	o, err := c.driver.Observe(call)
	o.Server, o.StartedAt, o.ReadAt = s.name, started, a.cfg.Clock()
	if o.Source == "" || o.Source == protocol.SourcePoll {
		o.Source = source
	}
	if protocol.CodeOf(err) == protocol.CodeDenied {
		a.denied.Note(w.Account, err.Error())
	}
	c.follow(ctx, s, err)
	if err == nil {
		c.readLog(call, s, &o)
	}
	r := reading{obs: &o}
	r.busy, r.retryAfter = pause(err)
	return r
}

// logEvery is how often the log is read that tells of power cycles.
const logEvery = time.Minute

// readLog adds what the BMC's log says last about power, where nothing else tells of a
// power cycle between two reads. It is read after the power state, and not each time: a
// log is long. That it cannot be read makes the observation no worse.
func (c *connection) readLog(ctx context.Context, s *server, o *protocol.Observation) {
	d, ok := c.driver.(bmc.PowerLogger)
	log := s.powerLog.Load()
	if !ok || log == nil || *log == "" || o.Power == protocol.PowerOff || o.StartedAt.Sub(c.logged) < logEvery {
		return
	}
	c.logged = o.StartedAt
	entry, err := d.PowerLog(ctx, *log)
	if err != nil {
		s.log.Debug("the BMC's log cannot be read", "err", err)
		return
	}
	o.PowerLog = entry
}

// expect tells a driver which machine its system is, where it wants to know.
func expect(d bmc.Driver, id bmc.SystemID) {
	if f, ok := d.(bmc.Finder); ok {
		f.Expect(id)
	}
}

// knownAs is the identity that is trusted of a server, as a driver takes it.
func knownAs(k *decide.Known) bmc.SystemID {
	if k == nil {
		return bmc.SystemID{}
	}
	return bmc.SystemID{UUID: k.Trusted.UUID, Serial: k.Trusted.Serial}
}

// credentialsCondition is what it is called that credentials cannot be read.
func credentialsCondition(in message.BMCIntent) resource.ConditionCode {
	if resource.SecretOf(in.CredentialsRef) != "" {
		return resource.CondCredentialsSealed
	}
	return resource.CondBMCCredentials
}

// follow takes over whether the BMC answers: one that is back may be another, and one
// that answers is listened to.
func (c *connection) follow(ctx context.Context, s *server, err error) {
	if err != nil {
		c.lost = true
		return
	}
	if c.lost {
		c.lost = false
		s.reread()
		s.agent.streams.Back(c.address)
	}
	if src, ok := c.driver.(bmc.EventSource); ok {
		s.agent.streams.Follow(ctx, c.address, src, s)
	}
}

func unreachable(s *server, in message.ServerIntent, code protocol.Code, err error) *protocol.Observation {
	now := s.agent.cfg.Clock()
	return &protocol.Observation{
		Server: in.Server, StartedAt: now, ReadAt: now, Source: protocol.SourcePoll,
		Power: protocol.PowerUnreachable, Code: code, Error: err.Error(),
	}
}

// pause says whether a BMC asked to be left alone, and for how long; or for how long
// it is not asked, because it does not answer.
func pause(err error) (busy bool, d time.Duration) {
	if b, ok := errors.AsType[*bmc.Busy](err); ok {
		return true, b.RetryAfter
	}
	if t, ok := errors.AsType[*bmc.Tripped](err); ok {
		return false, t.RetryAfter
	}
	return false, 0
}

// outcome puts an error into a decide.Result.
func outcome(r *decide.Result, err error) {
	if err == nil {
		return
	}
	r.Code, r.Message, r.Fault = protocol.CodeOf(err), err.Error(), bmc.FaultOf(err)
	r.Busy, r.RetryAfter = pause(err)
}
