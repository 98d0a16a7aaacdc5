package resource

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
)

// RolloutStrategy is what a new revision does to servers that run.
type RolloutStrategy string

// The strategies.
const (
	// RolloutOnNextBoot touches no server that runs: claims that are first booted, and
	// servers with boot: Network at their next power-on, take the new revision.
	RolloutOnNextBoot RolloutStrategy = "OnNextBoot"
	// RolloutReboot reboots servers with boot: Network, wave by wave.
	RolloutReboot RolloutStrategy = "Reboot"
	// RolloutReprovision installs servers anew, wave by wave: their disks are overwritten.
	// It wants the destructive role, and an approval of class reprovision for each wave.
	RolloutReprovision RolloutStrategy = "Reprovision"
)

// RolloutStrategies lists the strategies.
func RolloutStrategies() []RolloutStrategy {
	return []RolloutStrategy{RolloutOnNextBoot, RolloutReboot, RolloutReprovision}
}

// RolloutFailure is what a roll-out does when it fails.
type RolloutFailure string

// What is done. Pause is the default.
const (
	OnFailurePause    RolloutFailure = "Pause"
	OnFailureRollback RolloutFailure = "Rollback"
)

// RolloutSpec is how a new revision reaches a group's servers.
type RolloutSpec struct {
	Strategy RolloutStrategy `json:"strategy,omitempty"`
	Canary   CanarySpec      `json:"canary,omitzero"`
	// Waves are how many of the servers without the canaries are in each wave, as counts
	// or percent such as 10 or 25%; what is left is the last. Empty is one wave.
	Waves []Share `json:"waves,omitempty"`
	// MaxUnavailable bounds how many of the group's servers may be down at once, held,
	// powered off and dark ones included; a count or percent, rounded down, at least 1.
	// Default 1.
	MaxUnavailable Share `json:"maxUnavailable,omitempty"`
	// MaxFailures is how many servers of the roll-out may fail before it ends; default 0.
	MaxFailures int `json:"maxFailures,omitempty"`
	// Deadline is from the grant or reboot of a server to its being seen to boot the new
	// revision; later counts as failure. Default 1h.
	Deadline protocol.Duration `json:"deadline,omitempty"`
	// Soak is how long it must stay so then. Default 10m.
	Soak      protocol.Duration `json:"soak,omitempty"`
	OnFailure RolloutFailure    `json:"onFailure,omitempty"`
	// Windows are when a server may be begun; none is always. Freeze begins none at all.
	Windows []RolloutWindow `json:"windows,omitempty"`
	// TimeZone is of the windows, an IANA name such as Europe/Berlin; default UTC.
	TimeZone string `json:"timeZone,omitempty"`
	Freeze   bool   `json:"freeze,omitempty"`
	// FallbackAfter is after how many failed network boots of a new revision an agent
	// boots the one before it, without asking the hub; 0 is never. For boot: Network.
	FallbackAfter int `json:"fallbackAfter,omitempty"`
}

// CanarySpec says which servers are first: so many, or those with labels. The default is
// one.
type CanarySpec struct {
	Count       int               `json:"count,omitempty"`
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// RolloutWindow is a time of the week.
type RolloutWindow struct {
	Days  []string `json:"days,omitempty"` // Mon to Sun; none is each day
	Start string   `json:"start"`          // 22:00
	// Duration is at most a day. The window of a day on which clocks change lasts as long
	// by elapsed time.
	Duration protocol.Duration `json:"duration"`
}

// RolloutPhase is how far a roll-out has come.
type RolloutPhase string

// The phases.
const (
	RolloutWaiting    RolloutPhase = "Waiting" // for its window, a freeze or an approval
	RolloutCanary     RolloutPhase = "Canary"
	RolloutWave       RolloutPhase = "Wave"
	RolloutPaused     RolloutPhase = "Paused"
	RolloutCompleted  RolloutPhase = "Completed"
	RolloutAborted    RolloutPhase = "Aborted"
	RolloutRolledBack RolloutPhase = "RolledBack"
	RolloutFailed     RolloutPhase = "Failed"
	RolloutSuperseded RolloutPhase = "Superseded" // by a newer revision
)

// RolloutPhases lists the phases.
func RolloutPhases() []RolloutPhase {
	return []RolloutPhase{RolloutWaiting, RolloutCanary, RolloutWave, RolloutPaused, RolloutCompleted, RolloutAborted, RolloutRolledBack, RolloutFailed, RolloutSuperseded}
}

// Over says whether nothing more is begun by it.
func (p RolloutPhase) Over() bool {
	return slices.Contains([]RolloutPhase{RolloutCompleted, RolloutAborted, RolloutRolledBack, RolloutFailed, RolloutSuperseded}, p)
}

// RolloutStatus is a roll-out under way, or the last one. It is stored.
type RolloutStatus struct {
	Revision int             `json:"revision"`
	From     int             `json:"from,omitempty"` // the revision before; 0 is none
	Strategy RolloutStrategy `json:"strategy"`
	Phase    RolloutPhase    `json:"phase"`
	// Resumes is the phase that a paused one returns to.
	Resumes   RolloutPhase `json:"resumes,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	By        string       `json:"by,omitempty"` // who paused or aborted it; empty is the hub
	Wave      int          `json:"wave"`         // 0 is the canary
	Waves     int          `json:"waves"`        // with the canary
	StartedAt time.Time    `json:"startedAt"`
	WaveAt    time.Time    `json:"waveAt"`
	EndedAt   *time.Time   `json:"endedAt,omitempty"`
	// Proved says that the entry had its stamp, or that a canary was proved. Without it no
	// command goes past the canaries.
	Proved bool `json:"proved,omitempty"`
	// Members are the servers that it is for, in the order of their waves.
	Members map[string]RolloutMember `json:"members,omitempty"`
}

// RolloutMember is one server of a roll-out.
type RolloutMember struct {
	Wave  int         `json:"wave"`
	State MemberState `json:"state"`
	// Since is when it came to its state; BegunAt when its grant or reboot was given.
	Since   time.Time  `json:"since"`
	BegunAt *time.Time `json:"begunAt,omitempty"`
	// DueAt is by when it must be seen to boot the revision; later it has failed. It is nil
	// while the server is held, dark or in maintenance: its time begins anew afterwards.
	DueAt *time.Time `json:"dueAt,omitempty"`
	// WasDown says that it did not serve when it was begun: its failure proves nothing
	// about the image, and is not counted.
	WasDown bool   `json:"wasDown,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// MemberState is how far one server has come.
type MemberState string

// The states.
const (
	MemberWaiting   MemberState = "Waiting"
	MemberBegun     MemberState = "Begun" // the grant or the reboot was given
	MemberSoaking   MemberState = "Soaking"
	MemberDone      MemberState = "Done"
	MemberFailed    MemberState = "Failed"
	MemberSkipped   MemberState = "Skipped"   // gone, or not of the group any more
	MemberReturning MemberState = "Returning" // the order to boot the revision before was given
	MemberReturned  MemberState = "Returned"  // boots the revision before again
)

// MemberStates lists the states.
func MemberStates() []MemberState {
	return []MemberState{MemberWaiting, MemberBegun, MemberSoaking, MemberDone, MemberFailed, MemberSkipped, MemberReturning, MemberReturned}
}

// The bounds of a roll-out.
const (
	maxWaves    = 20
	maxWindows  = 14
	maxDeadline = 24 * time.Hour
	maxSoak     = 7 * 24 * time.Hour
	maxFallback = 10
)

// Default fills what is not given.
func (r *RolloutSpec) Default() {
	if r.Strategy == "" {
		r.Strategy = RolloutOnNextBoot
	}
	if r.Canary.Count == 0 && len(r.Canary.MatchLabels) == 0 {
		r.Canary.Count = 1
	}
	if r.MaxUnavailable == "" {
		r.MaxUnavailable = "1"
	}
	setDuration(&r.Deadline, time.Hour)
	setDuration(&r.Soak, 10*time.Minute)
	if r.OnFailure == "" {
		r.OnFailure = OnFailurePause
	}
	if r.TimeZone == "" {
		r.TimeZone = "UTC"
	}
}

func (r RolloutSpec) check(f *fields, path string, policy BootPolicy) {
	oneOf(f, path+".strategy", r.Strategy, RolloutStrategies()...)
	switch {
	case r.Strategy == RolloutReboot && policy.Boot != BootNetwork:
		f.Add(path+".strategy", "Reboot is for bootPolicy.boot: Network; a server that boots its disk runs the same system after a reboot, so say %s or %s", RolloutOnNextBoot, RolloutReprovision)
	case r.Strategy == RolloutReprovision && policy.Boot == BootNetwork:
		f.Add(path+".strategy", "Reprovision is for servers with a system on the disk; with bootPolicy.boot: Network say %s", RolloutReboot)
	case r.FallbackAfter != 0 && policy.Boot != BootNetwork:
		f.Add(path+".fallbackAfter", "is for bootPolicy.boot: Network")
	}
	if r.Canary.Count < 0 || r.Canary.Count > 0 && len(r.Canary.MatchLabels) > 0 {
		f.Add(path+".canary", "give one of a count of at least 1 and matchLabels")
	}
	if len(r.Waves) > maxWaves {
		f.Add(path+".waves", "has %d waves, and may have %d", len(r.Waves), maxWaves)
	}
	for i, w := range r.Waves {
		w.check(f, fmt.Sprintf("%s.waves[%d]", path, i))
	}
	r.MaxUnavailable.check(f, path+".maxUnavailable")
	if r.MaxFailures < 0 {
		f.Add(path+".maxFailures", "%d is negative", r.MaxFailures)
	}
	f.between(path+".deadline", r.Deadline, time.Minute, maxDeadline)
	f.between(path+".soak", r.Soak, 0, maxSoak)
	oneOf(f, path+".onFailure", r.OnFailure, OnFailurePause, OnFailureRollback)
	if r.FallbackAfter < 0 || r.FallbackAfter > maxFallback {
		f.Add(path+".fallbackAfter", "%d is not between 0 and %d", r.FallbackAfter, maxFallback)
	}
	r.checkWindows(f, path)
}

// Local is the time in the windows' zone, which is how they are judged. It reads the time
// zone database.
//
// Errors: invalid for a zone that the database has not.
func (r RolloutSpec) Local(now time.Time) (time.Time, error) {
	if r.TimeZone == "" {
		return now.UTC(), nil
	}
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil {
		return now, protocol.Errorf(protocol.CodeInvalid, "rollout", "%q is not a time zone such as Europe/Berlin: %w", r.TimeZone, err)
	}
	return now.In(zone), nil
}

func (r RolloutSpec) checkWindows(f *fields, path string) {
	if _, err := time.LoadLocation(r.TimeZone); err != nil || r.TimeZone == "Local" {
		f.Add(path+".timeZone", "%q is not a time zone such as Europe/Berlin", r.TimeZone)
	}
	if len(r.Windows) > maxWindows {
		f.Add(path+".windows", "has %d windows, and may have %d", len(r.Windows), maxWindows)
	}
	for i, w := range r.Windows {
		at := fmt.Sprintf("%s.windows[%d]", path, i)
		for _, d := range w.Days {
			oneOf(f, at+".days", d, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
		}
		if _, err := time.Parse("15:04", w.Start); err != nil {
			f.Add(at+".start", "%q is not a time of day such as 22:00", w.Start)
		}
		f.between(at+".duration", w.Duration, time.Minute, 24*time.Hour)
	}
}
