package redfish

import (
	"net/http"
	"slices"

	"rackboot/bmc"
)

// learnedReset is the reset action as the last read of the system gave it, in this
// driver's life and in this session with the BMC. Every error of a read or reset
// forgets it: the BMC may have been reset, updated or exchanged.
type learnedReset struct {
	resetAction
	uuid  string // of the system
	token string // of the session; empty for basic authentication
}

// learn remembers what a read says of the reset. d.mu is held.
func (d *driver) learn(s *system) {
	next := &learnedReset{resetAction: s.reset, uuid: textOf(s.f["UUID"]), token: d.link.account.token()}
	if d.learned != nil && d.learned.uuid != next.uuid {
		d.infoTypes = nil // of another machine
	}
	d.resetAt, d.learned = s.reset.target, next
}

func (d *driver) forgetReset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.learned = nil
}

// stopKnown is where a stop can be sent without a read before it, which takes a BMC
// 50 ms to some seconds. It is known if the target was learned and the BMC stated that
// it takes this type. A power-on is never known: the state is read before it, because
// a BMC may say Off before the machine is, and drop an On in that window (RackN,
// ipmi/power-confirm-timeout).
//
//	type  | learned | same session | stated | known
//	start | *       | *            | *      | no
//	stop  | no      | *            | *      | no
//	stop  | yes     | no           | *      | no
//	stop  | yes     | yes          | no     | no
//	stop  | yes     | yes          | yes    | yes
func (d *driver) stopKnown(reset bmc.ResetType) (known bool, target string) {
	stop := reset == bmc.ResetForceOff || reset == bmc.ResetGracefulShutdown
	d.mu.Lock()
	defer d.mu.Unlock()
	if !stop || d.learned == nil || d.learned.target == "" || d.learned.token != d.link.account.token() {
		return false, ""
	}
	types := d.learned.types
	if len(types) == 0 {
		types = d.infoTypes
	}
	return slices.Contains(types, reset), d.learned.target
}

// staleReset says whether a reset was refused in a way in which one is that is not, or
// no more, at this address or of this type; nothing was done then. Whatever else went
// wrong, reading the system tells no other way.
func staleReset(err error) bool {
	switch status, _, _ := refusal(err); status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusGone:
		return true
	}
	return false
}
