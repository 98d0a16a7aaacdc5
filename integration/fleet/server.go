package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// server is a machine that there is not, and what an agent would record of it.
type server struct {
	Name    string `json:"name"`
	Shard   int    `json:"shard"`
	Missing bool   `json:"missing,omitempty"` // its document names it no more, or not yet
	UID     string `json:"uid"`
	MAC     string `json:"mac"`

	Owner     string         `json:"owner,omitempty"` // UID
	Want      resource.Power `json:"want,omitempty"`
	Releasing bool           `json:"releasing,omitempty"`
	Boot      *boot          `json:"boot,omitempty"`

	Power   protocol.PowerState     `json:"power"`
	Since   time.Time               `json:"since,omitzero"` // of Power
	Epoch   uint64                  `json:"epoch"`
	Doing   doing                   `json:"doing,omitempty"`
	Due     time.Time               `json:"due,omitzero"`   // when the next thing happens by itself
	Tries   tries                   `json:"tries,omitzero"` // of the grant
	Attempt *resource.AttemptReport `json:"attempt,omitempty"`
	// Record is the signed resource.Provisioned of RecordOf.
	Record   []byte `json:"record,omitempty"`
	RecordOf owned  `json:"recordOf,omitzero"`
	Holds    []hold `json:"holds,omitempty"`
	Restarts int    `json:"restarts,omitempty"` // of the operating system
}

// boot is what of a BootIntent decides what happens.
type boot struct {
	owned
	Digest   string              `json:"digest"`
	Target   protocol.BootTarget `json:"target"`
	Attempts int                 `json:"attempts"` // that the grant allows; 0 without one that counts here
	Echo     bool                `json:"echo"`     // the hub has the record
}

// owned is a configuration of an owner.
type owned struct {
	Owner      string `json:"ownerUID"`
	Generation uint64 `json:"generation"`
}

// tries counts the uses of a grant.
type tries struct {
	owned
	N int `json:"n"`
}

type hold struct {
	resource.ActiveHold
	EnforcedAt time.Time `json:"enforcedAt"`
	Missing    bool      `json:"missing,omitempty"`
	Receipt    []byte    `json:"receipt,omitempty"` // signed
}

// doing is what is under way.
type doing string

const (
	doingNothing  doing = ""
	doingStop     doing = "stop"     // Off was ordered
	doingPost     doing = "post"     // On was ordered; firmware has not asked yet
	doingInstall  doing = "install"  // the image runs
	doingDiskBoot doing = "diskBoot" // On was ordered; the disk is booted
	doingBoot     doing = "boot"     // one of the last three
)

// boots is what a server can boot from, if its owner wants it On: a disk that has its record, or
// the network by a grant that has attempts left.
type boots string

const (
	bootsNot     boots = "not"
	bootsDisk    boots = "disk"
	bootsNetwork boots = "network"
)

// next is what a server does next.
type next string

const (
	nextNothing next = "nothing"
	nextOff     next = "off"     // Off is read
	nextStop    next = "stop"    // order Off
	nextProve   next = "prove"   // make receipts
	nextInstall next = "install" // use the grant: boot from the network
	nextDisk    next = "disk"    // boot from the disk
	nextGoOn    next = "go on"   // with the boot that is under way
)

// next says what is next. A server stops that is held, whose owner lets it go, or wants Off.
func (s *server) next(now time.Time) next {
	under, boots := s.Doing, bootsNot
	if under == doingPost || under == doingInstall || under == doingDiskBoot {
		under = doingBoot
	}
	b := s.Boot
	switch {
	case b == nil || s.Want != resource.WantOn:
	case b.Echo || s.RecordOf == b.owned:
		boots = bootsDisk
	case s.Tries.owned != b.owned && b.Attempts > 0, s.Tries.owned == b.owned && s.Tries.N < b.Attempts:
		boots = bootsNetwork
	}
	stops := len(s.Holds) > 0 || s.Releasing || s.Owner != "" && s.Want == resource.WantOff
	return nextRule(under, !s.Due.IsZero() && !now.Before(s.Due), stops, s.Power == protocol.PowerOn, boots)
}

// nextRule decides what is next. Due is what was to happen by itself: of a boot its next
// step, of a held server the end of the settle window. The first row that fits decides.
//
//	doing   | due | stops | on  | boots   | next
//	stop    | yes | *     | *   | *       | off
//	stop    | no  | *     | *   | *       | nothing
//	*       | *   | yes   | yes | *       | stop
//	*       | yes | yes   | no  | *       | prove
//	*       | no  | yes   | no  | *       | nothing
//	boot    | yes | no    | *   | *       | go on
//	boot    | no  | no    | *   | *       | nothing
//	nothing | *   | no    | yes | *       | nothing
//	nothing | *   | no    | no  | disk    | disk
//	nothing | *   | no    | no  | network | install
//	nothing | *   | no    | no  | not     | nothing
//
// A server without an owner stays as it is.
func nextRule(under doing, due, stops, on bool, b boots) next {
	switch {
	case under == doingStop && due:
		return nextOff
	case under == doingStop:
		return nextNothing
	case stops && on:
		return nextStop
	case stops && due:
		return nextProve
	case stops:
		return nextNothing
	case under == doingBoot && due:
		return nextGoOn
	case under == doingBoot, on:
		return nextNothing
	case b == bootsDisk:
		return nextDisk
	case b == bootsNetwork:
		return nextInstall
	}
	return nextNothing
}

// turn is one look of an agent at its servers.
type turn struct {
	now    time.Time
	agent  *agent
	moved  bool
	hurry  bool      // a hold has come to something
	recall time.Time // the next look
}

// step does what is due at a server.
func (t *turn) step(s *server) {
	if t.agent.silent(s) {
		return // nothing is read of it, nor can be ordered
	}
	for n := s.next(t.now); n != nextNothing; n = s.next(t.now) {
		t.moved = true
		s.Due = time.Time{}
		switch n {
		case nextOff:
			s.Power, s.Since, s.Doing = protocol.PowerOff, t.now, doingNothing
			t.event(s, resource.EventStopped, "")
			t.settle(s)
		case nextStop:
			t.stop(s)
		case nextProve:
			t.prove(s)
		case nextInstall, nextDisk:
			t.boot(s, n == nextInstall)
		case nextGoOn:
			t.goOn(s)
		case nextNothing:
		}
	}
	if !t.now.Before(s.Due) {
		s.Due = time.Time{} // of something that is not wanted any more
		return
	}
	if t.recall.IsZero() || s.Due.Before(t.recall) {
		t.recall = s.Due
	}
}

func (t *turn) event(s *server, code resource.EventCode, message string) {
	t.agent.disk.Events.add(resource.Event{At: t.now, Server: s.Name, Code: code, Message: message})
}

func (t *turn) stop(s *server) {
	if a := s.Attempt; a != nil && s.Doing != doingNothing {
		a.State, a.Since, a.Reason = resource.AttemptFailed, t.now, "the server was stopped"
	}
	s.Doing, s.Due = doingStop, t.now.Add(t.agent.cfg.Pace.Stop)
	t.event(s, resource.EventStopping, "")
}

// settle plans when holds without a receipt can have one.
func (t *turn) settle(s *server) {
	for _, h := range s.Holds {
		if at := s.proved(h, t.agent.disk.Settle); h.Receipt == nil && s.Power == protocol.PowerOff && (s.Due.IsZero() || at.Before(s.Due)) {
			s.Due = at
		}
	}
}

// proved is when Off was read over the settle window, all under the hold.
func (s *server) proved(h hold, settle time.Duration) time.Time {
	if s.Since.Before(h.EnforcedAt) {
		return h.EnforcedAt.Add(settle)
	}
	return s.Since.Add(settle)
}

func (t *turn) prove(s *server) {
	settle := t.agent.disk.Settle
	for i := range s.Holds {
		h := &s.Holds[i]
		at := s.proved(*h, settle)
		if h.Receipt != nil || t.now.Before(at) {
			continue
		}
		h.Receipt = t.agent.seal(wire.FactReceipt, resource.Receipt{
			HoldID: h.ID, Server: s.Name, Agent: t.agent.name, Key: h.Key, Ref: h.Ref, EnforcedAt: h.EnforcedAt, PowerEpoch: s.Epoch,
			StoppedSince: at.Add(-settle), ConfirmedAt: t.now, Reads: 2, Settle: settle,
		})
		t.hurry = true
		t.event(s, resource.EventFenced, "hold "+h.ID)
	}
	t.settle(s)
}

// boot powers a server on. What comes of it is told in three steps, as of a real one.
func (t *turn) boot(s *server, install bool) {
	b := s.Boot
	a := &resource.AttemptReport{
		ID: random(), OwnerUID: b.Owner, Generation: b.Generation, State: resource.AttemptPowerRequested, Since: t.now, Number: 1,
		Intended: protocol.TargetHdd, Outcome: protocol.BootStored,
	}
	s.Doing = doingDiskBoot
	if install {
		if s.Tries.owned != b.owned {
			s.Tries = tries{owned: b.owned}
		}
		s.Tries.N++
		a.Number, a.Intended, s.Doing = s.Tries.N, b.Target, doingPost
		t.event(s, resource.EventGrantUsed, fmt.Sprintf("generation %d", b.Generation))
	}
	a.Stored = protocol.Override{Target: a.Intended, Enabled: protocol.OverrideOnce, Mode: "UEFI"}
	s.Attempt, s.Power, s.Since = a, protocol.PowerOn, t.now
	s.Epoch++
	s.Due = t.now.Add(t.agent.cfg.Pace.Post)
	t.event(s, resource.EventPowerOn, string(a.Intended))
}

func (t *turn) goOn(s *server) {
	if s.Doing != doingDiskBoot && t.fails(s) {
		t.fail(s)
		return
	}
	a := s.Attempt
	a.Observed, a.Since = a.Intended, t.now
	switch s.Doing { //nolint:exhaustive // those of boots
	case doingPost:
		a.State, a.Evidence = resource.AttemptConsumed, protocol.EvidenceDHCP
		s.Doing, s.Due = doingInstall, t.now.Add(t.agent.cfg.Pace.Install)
		t.event(s, resource.EventConsumed, string(a.Intended))
	case doingInstall:
		a.State, a.Evidence, s.Doing = resource.AttemptSucceeded, protocol.EvidenceInstalled, doingNothing
		s.RecordOf = s.Tries.owned
		s.Record = t.agent.seal(wire.FactProvisioned, resource.Provisioned{
			OwnerUID: s.RecordOf.Owner, Generation: s.RecordOf.Generation, Server: s.Name, ServerUID: s.UID, ImageDigest: s.Boot.Digest,
			Evidence: protocol.EvidenceInstalled, At: t.now, Attempt: a.ID,
		})
		t.event(s, resource.EventProvisioned, fmt.Sprintf("generation %d", s.RecordOf.Generation))
	default:
		a.State, s.Doing = resource.AttemptSucceeded, doingNothing
		t.event(s, resource.EventDiskBoot, "")
	}
}

// report is what is said of the server.
func (s *server) report(now time.Time) resource.ServerReport {
	sum := sha256.Sum256([]byte(s.Name))
	out := resource.ServerReport{
		Server: s.Name, Power: s.Power, PowerEpoch: s.Epoch, OwnerUID: s.Owner, Attempt: s.Attempt, Identity: "sha256:" + hex.EncodeToString(sum[:]),
		Provisioned: s.Record, Released: s.Releasing && s.Power == protocol.PowerOff, ReadAge: readTakes,
		Observation: protocol.Observation{Server: s.Name, StartedAt: now.Add(-readTakes), ReadAt: now, Source: protocol.SourcePoll, Power: s.Power, SystemState: "Enabled"},
	}
	if s.Restarts > 0 {
		out.Observation.LastResetTime = fmt.Sprintf("restart %d", s.Restarts)
	}
	if s.Boot != nil {
		out.BootGeneration, out.ArtefactsLocal = s.Boot.Generation, true
	}
	if s.Power == protocol.PowerOff && !s.Since.IsZero() {
		out.StoppedSince = &s.Since
	}
	if s.Power == protocol.PowerOn && s.Owner != "" {
		out.LastPoweredOn = &s.Since
	}
	for _, h := range s.Holds {
		r := resource.HoldReport{ID: h.ID, Word: resource.HoldEnforced, State: resource.StateEnforced, EnforcedAt: h.EnforcedAt, Receipt: h.Receipt}
		switch {
		case h.Receipt != nil:
			r.Word, r.State = resource.HoldFenced, resource.StateFenced
		case s.Doing == doingStop:
			r.State = resource.StateStopping
		}
		if h.Missing {
			r.Hold = &h.ActiveHold
		}
		out.Holds = append(out.Holds, r)
	}
	return out
}

// readTakes is how long a read of a BMC is said to take.
const readTakes = 50 * time.Millisecond
