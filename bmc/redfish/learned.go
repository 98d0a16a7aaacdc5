package redfish

import (
	"slices"
	"sync"

	"rackboot/bmc"
)

// learned is what reads of a system taught of it, and a later one need not ask again.
type learned struct {
	mu        sync.Mutex
	reset     *learnedReset   // nil: the system is read before a reset
	resetAt   string          // target of the reset action, as last read
	infoTypes []bmc.ResetType // from ActionInfo, which is read once
	below     below
}

// below is what was found below the path of a system. It says nothing of another path, which
// may be another machine's.
type below struct {
	system   string
	oemBoot  *string // resource that stands for the override, empty for none; nil: not looked for
	settings string  // settings that the system does not link to
}

// learnedReset is the reset action as the last read of the system gave it, in this
// driver's life and in this session with the BMC. Every error of a read or reset
// forgets it: the BMC may have been reset, updated or exchanged.
type learnedReset struct {
	resetAction
	uuid  string // of the system
	token string // of the session; empty for basic authentication
}

func newLearned() *learned { return &learned{} }

// read remembers what a read says of the reset. token is that of the session.
func (l *learned) read(s *system, token string) {
	next := &learnedReset{resetAction: s.reset, uuid: textOf(s.f["UUID"]), token: token}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reset != nil && l.reset.uuid != next.uuid {
		l.infoTypes = nil // of another machine
	}
	l.resetAt, l.reset = s.reset.target, next
}

// forgetReset makes the next reset read the system before.
func (l *learned) forgetReset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset = nil
}

// another forgets the reset of what turned out to be another machine.
func (l *learned) another() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset, l.resetAt = nil, ""
}

// stopKnown is where a stop can be sent without a read before it, which takes a BMC
// 50 ms to some seconds. It is known if the target was learned and the BMC stated that
// it takes this type. A power-on is never known: the state is read before it, because
// a BMC may say Off before the machine is, and drop an On in that window (RackN,
// ipmi/power-confirm-timeout). token is that of the session.
//
//	type  | learned | same session | stated | known
//	start | *       | *            | *      | no
//	stop  | no      | *            | *      | no
//	stop  | yes     | no           | *      | no
//	stop  | yes     | yes          | no     | no
//	stop  | yes     | yes          | yes    | yes
func (l *learned) stopKnown(reset bmc.ResetType, token string) (known bool, target string) {
	stop := reset == bmc.ResetForceOff || reset == bmc.ResetGracefulShutdown
	l.mu.Lock()
	defer l.mu.Unlock()
	if !stop || l.reset == nil || l.reset.target == "" || l.reset.token != token {
		return false, ""
	}
	types := l.reset.types
	if len(types) == 0 {
		types = l.infoTypes
	}
	return slices.Contains(types, reset), l.reset.target
}

// resetTarget is the address of the reset action when it was last read.
func (l *learned) resetTarget() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resetAt
}

// statedTypes are the reset types of the ActionInfo; empty if it was not read.
func (l *learned) statedTypes() []bmc.ResetType {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.infoTypes
}

// stated takes the reset types of the ActionInfo.
func (l *learned) stated(types []bmc.ResetType) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.infoTypes = types
}

// at is what was found below a path. l.mu is held.
func (l *learned) at(system string) *below {
	if l.below.system != system {
		l.below = below{system: system}
	}
	return &l.below
}

// oemBoot is the resource that stands for the override of a system, empty for none; ok is
// false where it was not looked for.
func (l *learned) oemBoot(system string) (uri string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.at(system).oemBoot; found != nil {
		return *found, true
	}
	return "", false
}

// foundOEMBoot takes the resource that stands for the override of a system, empty for none.
func (l *learned) foundOEMBoot(system, uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at(system).oemBoot = &uri
}

// settings is the settings resource that was found of a system that links to none; empty if
// there is none.
func (l *learned) settings(system string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(system).settings
}

// foundSettings takes the settings resource of a system that links to none.
func (l *learned) foundSettings(system, uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at(system).settings = uri
}
