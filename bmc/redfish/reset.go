package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// resetBody is the body of a ComputerSystem.Reset.
type resetBody struct {
	ResetType bmc.ResetType
}

// Reset reads the system for the action's address and types, and sends one
// reset. A stop whose address and type the last read gave is sent at once, and the
// system is read only if the BMC refuses it: it is sent to another address if that
// read gives one. Being already in the wanted state is a conflict, which the caller
// settles by reading.
func (d *driver) Reset(ctx context.Context, reset bmc.ResetType) error {
	c := d.call(ctx, opReset)
	c.urgent = reset == bmc.ResetForceOff
	known, at := d.stopKnown(reset)
	var refused error
	if known {
		if refused = d.send(c, at, reset); !staleReset(refused) {
			return refused
		}
	}
	s, err := d.read(c)
	if refused != nil && (err != nil || s.reset.target == at && slices.Contains(d.resetTypes(c, s), reset)) {
		return refused // it was not the address
	}
	if err != nil && c.urgent && protocol.CodeOf(err) != protocol.CodeDenied {
		if at := blindTarget(bmc.FaultOf(err).Kind, d.resetKnown(), d.givenURI); at != "" {
			// A BMC that cannot say how the system is can often still turn it off.
			d.logger.Warn("system cannot be read; forced off all the same", "err", err)
			return d.send(c, at, reset)
		}
	}
	if err != nil {
		return err
	}
	if s.reset.target == "" {
		return protocol.Errorf(protocol.CodeUnsupported, c.op, "the system %s has no reset action", s.ODataID).
			WithHint("check the system URI of this server")
	}
	if types := d.resetTypes(c, s); len(types) > 0 && !slices.Contains(types, reset) {
		return protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s does not offer the reset %s; it offers %v", d.link.base, reset, types).
			WithHint("use one of those that it offers")
	}
	return d.send(c, s.reset.target, reset)
}

// send sends one reset.
func (d *driver) send(c *call, target string, reset bmc.ResetType) error {
	// Without If-Match: the ETag changes with the power state, and a reset that
	// was refused for it could not be told from one refused for the state.
	resp, err := c.Post(target, resetBody{ResetType: reset})
	if err != nil {
		d.forgetReset()
		return tooSoon(reset, err)
	}
	return d.noteTask(reset, resp)
}

// onPause is how long to wait where iDRAC 10 refuses On, which it does for up to
// 60 s after an off (ironic tries 6 times, 10 s apart).
const onPause = 10 * time.Second

// tooSoon marks a refused On that only time is missing for.
func tooSoon(reset bmc.ResetType, err error) error {
	e, is := errors.AsType[*protocol.Error](err)
	_, said, ok := refusal(err)
	if !is || !ok || reset != bmc.ResetOn || !said.is([]string{"ActionParameterValueConflict"}) {
		return err
	}
	e.Err = &answer{status: http.StatusConflict, said: said, fault: bmc.FaultOf(err), cause: &bmc.Busy{RetryAfter: onPause, Reason: printable(said.id)}}
	e.Hint = "wait and send On again; the BMC refuses it for up to a minute after an off"
	return e
}

// resetKnown is the address of the reset action when it was last read.
func (d *driver) resetKnown() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.resetAt
}

// resetTypes are the types that the system states, inline or in its
// ActionInfo; empty if neither can be read, which never blocks a reset.
func (d *driver) resetTypes(c *call, s *system) []bmc.ResetType {
	if len(s.reset.types) > 0 || s.reset.info == "" {
		return s.reset.types
	}
	d.mu.Lock()
	types := d.infoTypes
	d.mu.Unlock()
	if len(types) > 0 {
		return types
	}
	info, err := get[actionInfo](c, s.reset.info)
	if err != nil {
		d.logger.Warn("reset types cannot be read", "uri", s.reset.info, "err", err)
		return nil
	}
	d.mu.Lock()
	d.infoTypes = info.types
	d.mu.Unlock()
	return info.types
}
