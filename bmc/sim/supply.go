package sim

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// supply is the power of a system as its BMC holds it. Its methods are safe for
// concurrent use.
type supply struct {
	uri     string // of the system
	machine hardware.Machine
	manner  *manner
	tags    *tags
	diary   *diary
	events  *events
	log     *powerLog
	logger  *slog.Logger

	mu        sync.Mutex
	power     protocol.PowerState
	past      []powerChange // oldest first
	begunAt   time.Time     // of the last power-on or reset
	lastReset time.Time
	ahead     time.Duration // of the BMC's clock at lastReset
}

// now is the power state.
func (s *supply) now() protocol.PowerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.power
}

// set changes the power state, and tells of it.
func (s *supply) set(p protocol.PowerState) {
	s.mu.Lock()
	same := s.power == p
	if !same {
		s.power = p
		if len(s.past) == maxPast {
			s.past = s.past[1:]
		}
		s.past = append(s.past, powerChange{time.Now(), p})
	}
	s.mu.Unlock()
	if same {
		return
	}
	s.tags.touch(s.uri)
	s.diary.record(RecordPower, string(p))
	s.logger.Debug("simulated power", "power", p)
	s.log.note(p)
	s.events.powerChanged(s.uri, string(p))
}

// begin notes a power-on or reset that was accepted.
func (s *supply) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begunAt = time.Now()
}

// reset notes a power-on or reset of the machine.
func (s *supply) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastReset, s.ahead = time.Now(), s.manner.now().Report.Clock
}

// resetTime is when the machine was last reset, as the BMC's clock has it; zero for never.
func (s *supply) resetTime() time.Time {
	rules := s.manner.now().Report
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.lastReset.IsZero():
		return s.lastReset
	case rules.ResetComputed:
		return s.lastReset.Add(rules.Clock)
	}
	return s.lastReset.Add(s.ahead)
}

// within says whether the last power-on or reset is less long ago than a time.
func (s *supply) within(d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.begunAt.IsZero() && time.Since(s.begunAt) < d
}

// inPost says whether firmware runs.
func (s *supply) inPost() bool {
	return s.now() == protocol.PowerPoweringOn || s.machine.State() == hardware.Post
}

// busy refuses changes during POST or the boot.
func (s *supply) busy() *refusal {
	p := s.manner.now()
	switch {
	case p.RefusePatchInPost && s.inPost():
		return &refusal{status: http.StatusBadRequest, id: messagePostHPE, text: "the property cannot be modified while the system is in POST"}
	case p.Boot.BusyInBoot > 0 && s.now() != protocol.PowerOff && s.within(p.Boot.BusyInBoot):
		return &refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.ServiceTemporarilyUnavailable", text: "the host is booting", retryAfter: "30"}
	default:
		return nil
	}
}

// notReady refuses everything while data are not ready after the host was started.
func (s *supply) notReady() *refusal {
	if wait := s.manner.now().Power.BusyAfter; wait > 0 && s.within(wait) {
		return &refusal{status: http.StatusServiceUnavailable, id: messageNotReady, text: "data sources are not ready", retryAfter: "30"}
	}
	return nil
}

// maxPast bounds the changes of power that are remembered.
const maxPast = 32

// powerChange is a power state and when it began.
type powerChange struct {
	at    time.Time
	power protocol.PowerState
}

// shown is the power state as a read gives it.
func (s *supply) shown() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := s.manner.now().Power
	power := s.past[0].power
	for _, c := range s.past[1:] {
		if time.Since(c.at) >= rules.StaleFor {
			power = c.power
		}
	}
	if word, ok := rules.Shown[string(power)]; ok {
		return word
	}
	return power
}
