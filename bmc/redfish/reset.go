package redfish

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"rackboot/bmc"
	"rackboot/protocol"
)

// power resets a system, and follows what becomes of it.
type power struct {
	link    *link
	locator *locator
	learned *learned
	orders  *orders
	logger  *slog.Logger
}

func newPower(l *link, at *locator, learned *learned, logger *slog.Logger) *power {
	return &power{link: l, locator: at, learned: learned, orders: newOrders(l, logger), logger: logger}
}

// resetBody is the body of a ComputerSystem.Reset.
type resetBody struct {
	ResetType bmc.ResetType
}

// reset reads the system for the action's address and types, and sends one
// reset. A stop whose address and type the last read gave is sent at once, and the
// system is read only if the BMC refuses it: it is sent to another address if that
// read gives one. Being already in the wanted state is a conflict, which the caller
// settles by reading.
func (p *power) reset(ctx context.Context, reset bmc.ResetType) error {
	c := newCall(ctx, opReset, p.link)
	c.urgent = reset == bmc.ResetForceOff
	known, at := p.learned.stopKnown(reset, p.link.token())
	var refused error
	if known {
		if refused = p.send(c, at, reset); !staleReset(refused) {
			return refused
		}
	}
	s, err := p.locator.read(c)
	if refused != nil && (err != nil || s.reset.target == at && slices.Contains(p.types(c, s), reset)) {
		return refused // it was not the address
	}
	if err != nil && c.urgent && protocol.CodeOf(err) != protocol.CodeDenied {
		if at := blindTarget(bmc.FaultOf(err).Kind, p.learned.resetTarget(), p.locator.given); at != "" {
			// A BMC that cannot say how the system is can often still turn it off.
			p.logger.Warn("system cannot be read; forced off all the same", "err", err)
			return p.send(c, at, reset)
		}
	}
	if err != nil {
		return err
	}
	if s.reset.target == "" {
		return protocol.Errorf(protocol.CodeUnsupported, c.op, "the system %s has no reset action", s.ODataID).
			WithHint("check the system URI of this server")
	}
	if types := p.types(c, s); len(types) > 0 && !slices.Contains(types, reset) {
		return protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s does not offer the reset %s; it offers %v", p.link.base, reset, types).
			WithHint("use one of those that it offers")
	}
	return p.send(c, s.reset.target, reset)
}

// send sends one reset.
func (p *power) send(c *call, target string, reset bmc.ResetType) error {
	// Without If-Match: the ETag changes with the power state, and a reset that
	// was refused for it could not be told from one refused for the state.
	resp, err := c.Post(target, resetBody{ResetType: reset})
	if err != nil {
		p.learned.forgetReset()
		return tooSoon(reset, err)
	}
	return p.orders.note(reset, resp)
}

// orderFault is what the BMC says of the last reset once that has failed; the zero value
// otherwise. power is the power state now.
func (p *power) orderFault(c *call, power protocol.PowerState) protocol.BMCFault {
	return p.orders.fault(c, power)
}

// tooSoon marks a refused On that only time is missing for.
func tooSoon(reset bmc.ResetType, err error) error {
	e, is := errors.AsType[*protocol.Error](err)
	_, said, ok := refusal(err)
	if !is || !ok || reset != bmc.ResetOn || !said.is(onTooSoon) {
		return err
	}
	e.Err = &answer{status: http.StatusConflict, said: said, fault: bmc.FaultOf(err), cause: &bmc.Busy{RetryAfter: onPause, Reason: printable(said.id)}}
	e.Hint = "wait and send On again; the BMC refuses it for up to a minute after an off"
	return e
}

// types are the reset types that the system states, inline or in its ActionInfo;
// empty if neither can be read, which never blocks a reset.
func (p *power) types(c *call, s *system) []bmc.ResetType {
	if len(s.reset.types) > 0 || s.reset.info == "" {
		return s.reset.types
	}
	if types := p.learned.statedTypes(); len(types) > 0 {
		return types
	}
	info, err := get[actionInfo](c, s.reset.info)
	if err != nil {
		p.logger.Warn("reset types cannot be read", "uri", s.reset.info, "err", err)
		return nil
	}
	p.learned.stated(info.types)
	return info.types
}

// staleReset reports whether a reset was refused in a way in which one is that is not, or
// no more, at this address or of this type; nothing was done then. Whatever else went
// wrong, reading the system tells no other way.
func staleReset(err error) bool {
	switch status, _, _ := refusal(err); status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusGone:
		return true
	}
	return false
}
