package decide

import (
	"maps"
	"time"

	"rackboot/protocol"
)

// machine is a server and its BMC as pure data: time is what advance is given.
type machine struct {
	now      time.Duration
	power    protocol.PowerState // what is so; what is shown may differ
	override protocol.Override
	onDue    time.Duration // when an On that was accepted takes effect; 0 is none
	onTakes  time.Duration // and how long that takes
	due      time.Duration // when next happens; 0 is nothing
	next     func()
	loading  bool   // the boot file is on its way
	os       bool   // an operating system runs and heeds the power button
	disk     bool   // a system is installed
	hang     bool   // the next installer hangs
	restarts bool   // installers end with a restart, and not with Off
	live     bool   // what is booted from the network stays, and has reported that it runs
	probe    bool   // what is booted from the network installs nothing, and heeds no power button
	onBy     string // the owner whose On the last power-on was; empty is somebody else's
	ordered  string // the owner of the On that is due

	lastReset time.Duration // when the last boot began, by the BMC's clock
	clock     time.Duration // of the BMC, ahead of true time
	bootAt    time.Duration // as lastReset, in true time
	computed  bool          // lastReset is computed from the uptime, by the clock of the read
	identity  Identity

	policy protocol.RestorePolicy // what is set; own is what people set
	own    protocol.RestorePolicy

	medium  string // token of ours in its BMC's drive
	foreign bool   // somebody else's is in it
	caches  bool   // its BMC reads all of a medium when it is inserted

	uri string // the token in the URL that the BMC has for firmware
	// unset is that the URL goes with the next reset.
	unset bool

	// set are the settings of its firmware, waits those that wait for POST, which takes none if deaf.
	set, waits map[string]string
	deaf       bool

	task string // the ResetType of a Task that has failed, and was not read

	faults faults
	// netboot is called when firmware asks the network; it says how long the file
	// takes, and whether firmware got an answer at all.
	netboot func(protocol.BootTarget) (fetch time.Duration, ok bool)
	// fetched and installed are called when the file has arrived and when the
	// installer reports; installed says whether the report was taken.
	fetched   func()
	installed func() bool
	consumed  func(protocol.BootTarget)
	// mediaboot is called when firmware boots the drive; cached when the BMC has read all.
	mediaboot func() (load time.Duration, ok bool)
	cached    func(token string)
}

// faults are how the BMC misbehaves now.
type faults struct {
	Shown       protocol.PowerState // instead of the truth; empty is none
	DropOn      bool
	RefuseOn    bool
	RefuseStop  bool // 503 for graceful
	NoGraceful  bool // 405 for graceful
	IgnoreSoft  bool
	HangSoft    bool // PoweringOff for ever after graceful
	DropForce   bool
	DropArm     bool
	RefuseArm   bool
	KeepArmed   bool // firmware does not end Once
	Coerce      bool // Once is stored as Continuous
	Revert      bool // something else is stored
	NoRestart   bool // ForceRestart is not offered
	LoseAnswers bool // what was asked is done, and the answer lost
	NoPolicy    bool // restore policies are unsupported
	BusyPolicy  bool // and 503 for a while
	OnDelay     time.Duration
	NoMedia     bool // 405 for inserting
	BusyMedia   bool // 503 for both
	KeepMedia   bool // ejecting is refused
	BusyURL     bool // 503 for clearing a URL
	KeepURL     bool // and refused
	LateURL     bool // and done with the next reset
	NoURL       bool // the BMC takes none
	NoHTTP      bool // firmware boots by PXE where it is told UefiHttp without a URL
	KeepDisarm  bool // Disabled and None are refused
	KeepDisk    bool // and so is the disk, where it stands for them
	NoTag       bool // every write of an override is refused for its ETag
	TaskFails   bool // resets are taken as Tasks, which fail
	Drip        bool // what is Unreachable begins its answers
}

func newMachine() *machine {
	return &machine{set: map[string]string{"Quiet": "On", "Web": "https://old?token=t"}, waits: map[string]string{}, policy: protocol.RestoreAlwaysOn, own: protocol.RestoreAlwaysOn, power: protocol.PowerOff, override: disarmed(), identity: Identity{Serial: "S1", MACs: []string{"02:00:00:00:00:01"}}}
}

func disarmed() protocol.Override {
	return protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}
}

func (m *machine) after(d time.Duration, next func()) {
	m.due, m.next, m.loading = m.now+d, next, false
}

// stall ends what was under way, with nothing to follow.
func (m *machine) stall() { m.due, m.next, m.loading = 0, nil, false }

// advance lets time pass.
func (m *machine) advance(to time.Duration) {
	for {
		switch {
		case m.onDue > 0 && m.onDue <= to && (m.due == 0 || m.onDue <= m.due):
			m.now, m.onDue = m.onDue, 0
			m.powerOn()
		case m.due > 0 && m.due <= to:
			next := m.next
			m.now = m.due
			m.stall()
			next()
		default:
			m.now = to
			return
		}
	}
}

func (m *machine) powerOn() {
	if m.power != protocol.PowerOff {
		return
	}
	m.power, m.onDue = protocol.PowerPoweringOn, 0 // one sequencer: an On under way is this one
	m.onBy, m.ordered = m.ordered, ""
	m.begun()
	m.after(500*time.Millisecond, func() {
		m.power = protocol.PowerOn
		m.after(20*time.Second, m.boot)
	})
}

// off cuts power at once.
func (m *machine) off() {
	m.power, m.os = protocol.PowerOff, false
	m.stall()
}

// boot is the end of POST.
func (m *machine) boot() {
	if !m.deaf {
		maps.Copy(m.set, m.waits)
	}
	m.waits = map[string]string{}
	target := protocol.TargetNone
	if m.override.Armed() {
		target = m.override.Target
		if !m.faults.KeepArmed && m.override.Enabled != protocol.OverrideContinuous {
			m.override = disarmed()
		}
	}
	m.consumed(target)
	switch target {
	case protocol.TargetHdd:
		m.os = m.disk
	case protocol.TargetUefiHTTP, protocol.TargetPxe:
		if m.faults.NoHTTP && m.uri == "" {
			target = protocol.TargetPxe
		}
		if d, ok := m.netboot(target); ok {
			m.after(d, m.install)
			m.loading = true
		}
	case protocol.TargetCd:
		if m.medium == "" {
			break // firmware goes on to the shell
		}
		if d, ok := m.mediaboot(); ok {
			m.after(d, m.install)
			m.loading = true
		}
	case protocol.TargetNone, protocol.TargetSetup:
	}
}

// insert answers an insert of our medium.
func (m *machine) insert(token string) (code protocol.Code, busy, occupied bool) {
	switch {
	case m.faults.NoMedia:
		return protocol.CodeUnsupported, false, false
	case m.faults.BusyMedia:
		return protocol.CodeUnavailable, true, false
	case m.foreign:
		return protocol.CodeConflict, false, true
	}
	m.medium = token
	if m.caches {
		m.cached(token)
	}
	if m.faults.LoseAnswers {
		return protocol.CodeTimeout, false, false
	}
	return "", false, false
}

// eject answers an eject of what is ours.
func (m *machine) eject() (code protocol.Code, busy bool) {
	switch {
	case m.faults.BusyMedia:
		return protocol.CodeUnavailable, true
	case m.faults.KeepMedia:
		return protocol.CodeInvalid, false
	}
	m.medium = ""
	if m.faults.LoseAnswers {
		return protocol.CodeTimeout, false
	}
	return "", false
}

func (m *machine) install() {
	m.fetched()
	if m.hang {
		m.hang = false
		return
	}
	m.os = !m.probe
	m.after(30*time.Second, func() {
		m.disk = m.disk || !m.probe
		m.report(30)
	})
}

func (m *machine) report(tries int) {
	if m.installed() {
		switch {
		case m.live:
		case m.restarts:
			m.after(5*time.Second, m.restart)
		default:
			m.after(time.Second, m.off)
		}
	} else if tries > 0 {
		m.after(5*time.Second, func() { m.report(tries - 1) })
	}
}

// setURI answers an override with a URL, which goes in with it.
func (m *machine) setURI(o protocol.Override, token string) (stored protocol.Override, outcome protocol.BootOutcome, code protocol.Code) {
	was := m.override
	stored, outcome, code = m.setBoot(o)
	if m.override != was || m.override == o {
		m.uri, m.unset = token, false
	}
	return stored, outcome, code
}

// clearURL answers that the URL goes; disarming does not take it away here.
func (m *machine) clearURL() (code protocol.Code, busy bool) {
	switch {
	case m.faults.BusyURL:
		return protocol.CodeUnavailable, true
	case m.faults.KeepURL:
		return protocol.CodeUnsupported, false
	case m.faults.LateURL && m.uri != "":
		m.unset = true
	default:
		m.uri = ""
	}
	if m.faults.LoseAnswers {
		return protocol.CodeTimeout, false
	}
	return "", false
}

// setBoot answers a boot change.
func (m *machine) setBoot(o protocol.Override) (stored protocol.Override, outcome protocol.BootOutcome, code protocol.Code) {
	outcome = protocol.BootStored
	switch {
	case m.faults.RefuseArm:
		return stored, protocol.BootRefusedByState, protocol.CodeConflict
	case m.faults.DropArm:
		if outcome = protocol.BootDropped; m.override == o {
			outcome = protocol.BootStored
		}
	case m.faults.Coerce && o.Armed():
		m.override, outcome = o, protocol.BootCoercedContinuous
		m.override.Enabled = protocol.OverrideContinuous
	case m.faults.Revert && o.Armed():
		m.override, outcome = o, protocol.BootReverted
		m.override.Mode = "Legacy"
	default:
		m.override = o
	}
	if m.faults.LoseAnswers {
		return stored, protocol.BootUnknown, protocol.CodeTimeout
	}
	return m.override, outcome, ""
}

// disarm answers a write that takes the override away, in one of the ways.
func (m *machine) disarm(o protocol.Override) (stored protocol.Override, outcome protocol.BootOutcome, code protocol.Code) {
	if m.faults.KeepDisarm && (!o.Armed() || m.faults.KeepDisk) {
		return m.override, protocol.BootUnsupported, protocol.CodeUnsupported
	}
	return m.setBoot(o)
}

// restart is a warm reset while the server runs.
func (m *machine) restart() {
	if m.power == protocol.PowerOn {
		m.os = false
		m.begun()
		m.after(20*time.Second, m.boot)
	}
}

// mains is an outage of mains power; the BMC forgets an On that it has not done.
func (m *machine) mains() {
	on := m.power != protocol.PowerOff
	m.off()
	m.onDue = 0
	if m.policy == protocol.RestoreAlwaysOn || m.policy == protocol.RestoreLastState && on {
		m.powerOn()
	}
}

// setPolicy answers a change of the restore policy; empty only reads it.
func (m *machine) setPolicy(want protocol.RestorePolicy) (was protocol.RestorePolicy, code protocol.Code) {
	was = m.policy
	switch {
	case m.faults.NoPolicy:
		return "", protocol.CodeUnsupported
	case m.faults.BusyPolicy:
		return "", protocol.CodeUnavailable
	case want != "":
		m.policy = want
	}
	if m.faults.LoseAnswers {
		return "", protocol.CodeTimeout
	}
	return was, ""
}

// begun notes when a boot began, by the BMC's clock.
func (m *machine) begun() {
	m.lastReset, m.bootAt = m.now+m.clock, m.now
	if m.unset {
		m.uri, m.unset = "", false
	}
}

// lastResetTime is what the BMC shows; its clock begins again when it restarts.
func (m *machine) lastResetTime() string {
	if m.lastReset == 0 {
		return "0000-00-00T00:00:00+00:00"
	}
	if m.computed {
		return worldStart.Add(m.bootAt + m.clock).Format(time.RFC3339)
	}
	return worldStart.Add(m.lastReset).Format(time.RFC3339)
}

// managerTime is what the BMC's clock shows.
func (m *machine) managerTime() string {
	return worldStart.Add(m.now + m.clock).Format(time.RFC3339)
}

// reset answers a reset.
func (m *machine) reset(kind ActionKind) (code protocol.Code, busy bool) {
	f := m.faults
	off := m.power == protocol.PowerOff
	switch {
	case f.TaskFails && off == (kind == ActOn):
		m.task = map[ActionKind]string{ActOn: "On", ActRestart: "ForceRestart", ActGraceful: "GracefulShutdown", ActForceOff: "ForceOff"}[kind]
		return "", false
	case off != (kind == ActOn), kind == ActOn && f.RefuseOn:
		return protocol.CodeConflict, false
	case kind == ActRestart && f.NoRestart:
		return protocol.CodeUnsupported, false
	case kind == ActRestart && !f.DropOn:
		m.restart()
	case kind == ActOn && m.onDue > 0: // it is being powered on
	case kind == ActOn && !f.DropOn:
		m.onTakes = f.OnDelay + time.Millisecond
		m.onDue = m.now + m.onTakes
	case kind == ActForceOff && !f.DropForce:
		m.power, m.os = protocol.PowerPoweringOff, false
		m.after(300*time.Millisecond, m.off)
	case kind == ActGraceful && f.NoGraceful:
		return protocol.CodeUnsupported, false
	case kind == ActGraceful && f.RefuseStop:
		return protocol.CodeUnavailable, true
	case kind == ActGraceful && f.HangSoft:
		m.power = protocol.PowerPoweringOff
		m.stall()
	case kind == ActGraceful && m.os && !f.IgnoreSoft:
		m.power = protocol.PowerPoweringOff
		m.after(3*time.Second, m.off)
	}
	if f.LoseAnswers {
		return protocol.CodeTimeout, false
	}
	return "", false
}

// shown is what the BMC says of the power.
func (m *machine) shown() protocol.PowerState {
	if m.faults.Shown != "" {
		return m.faults.Shown
	}
	return m.power
}
