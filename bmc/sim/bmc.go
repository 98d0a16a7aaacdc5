package sim

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"rackboot/protocol"
)

// Config configures a simulated BMC.
type Config struct {
	Machine     Machine // required; Close of the BMC closes it
	Personality Personality
	Username    string
	Password    string
	// Listen opens the listener; nil is 127.0.0.1 with a free port. After
	// ReachRefused it is called again and must give the same address.
	Listen func() (net.Listener, error)
	Logger *slog.Logger // nil for none
}

// BMC is a simulated BMC. Its methods are safe for concurrent use.
type BMC struct {
	machine     Machine
	logger      *slog.Logger
	certificate tls.Certificate
	fingerprint string
	front       *front
	ctx         context.Context
	cancel      context.CancelFunc
	tasks       sync.WaitGroup

	mu          sync.Mutex
	personality Personality
	username    string
	password    string
	sessions    map[string]string // token by id
	power       protocol.PowerState
	powerEpoch  uint64 // grows with each command, so that older delays end without effect
	offAt       time.Time
	override    protocol.Override
	etag        uint64
	lastReset   time.Time
	dropOns     int
	mains       bool
	closed      bool
	beforeLoss  protocol.PowerState
	faults      []Fault
	history     []Record
}

// New makes a BMC and serves it, unless its personality is down. It fails if
// the listener cannot be opened.
func New(config Config) (*BMC, error) {
	if config.Machine == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new", "a BMC needs a machine")
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	cert, fingerprint, err := newCertificate()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "sim.new", "make certificate: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &BMC{
		machine:     config.Machine,
		logger:      config.Logger,
		certificate: cert,
		fingerprint: fingerprint,
		ctx:         ctx,
		cancel:      cancel,
		personality: config.Personality,
		username:    config.Username,
		password:    config.Password,
		sessions:    make(map[string]string),
		power:       protocol.PowerOff,
		override:    protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled},
		dropOns:     config.Personality.DropOns,
		mains:       true,
	}
	if !config.Personality.NoMode {
		b.override.Mode = modeUEFI
	}
	b.front, err = newFront(b.handler(), cert, config.Listen)
	if err != nil {
		cancel()
		return nil, protocol.Errorf(protocol.CodeUnavailable, "sim.new", "listen: %w", err)
	}
	if err := b.SetReach(config.Personality.Reach); err != nil {
		cancel()
		return nil, err
	}
	return b, nil
}

// Address is https://host:port.
func (b *BMC) Address() string { return "https://" + b.front.address }

// Fingerprint is sha256:<hex> of the certificate.
func (b *BMC) Fingerprint() string { return b.fingerprint }

// PowerState is the power state that the BMC reports.
func (b *BMC) PowerState() protocol.PowerState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.power
}

// Override is the override that the BMC holds.
func (b *BMC) Override() protocol.Override {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.override
}

// Adjust changes the personality from the next request on. DropOns counts anew;
// Reach is changed by SetReach only.
func (b *BMC) Adjust(change func(*Personality)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.personality)
	b.dropOns = b.personality.DropOns
}

// SetCredentials changes the account; open sessions end.
func (b *BMC) SetCredentials(username, password string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.username, b.password = username, password
	clear(b.sessions)
}

// SetReach changes how the BMC answers the network. It fails if the listener
// cannot be opened again.
func (b *BMC) SetReach(r Reach) error { return b.front.set(r) }

// Close ends the service and the machine.
func (b *BMC) Close() error {
	b.cancel()
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.front.close()
	err := b.machine.Close()
	b.tasks.Wait()
	return err
}

// NextBoot implements Board.
func (b *BMC) NextBoot() protocol.BootTarget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.override.Armed() {
		return protocol.TargetNone
	}
	return b.override.Target
}

// BootConsumed implements Board: an override for once ends.
func (b *BMC) BootConsumed(target protocol.BootTarget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record(RecordConsumed, string(target))
	if b.override.Enabled == protocol.OverrideOnce && b.override.Target == target {
		b.override.Target, b.override.Enabled = protocol.TargetNone, protocol.OverrideDisabled
		b.etag++
	}
}

// MachineChanged implements Board.
func (b *BMC) MachineChanged(state MachineState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.etag++
	// Only what the machine is now counts: calls can overtake each other.
	switch {
	case b.machine.State() == MachineOff:
		b.offAt = time.Now()
		b.setPower(protocol.PowerOff)
	case state == MachinePost:
		b.lastReset = time.Now()
		if b.power != protocol.PowerPoweringOff {
			b.setPower(protocol.PowerOn)
		}
	}
}

// setPower sets the reported state. b.mu is held.
func (b *BMC) setPower(p protocol.PowerState) {
	if b.power == p {
		return
	}
	b.power = p
	b.etag++
	b.record(RecordPower, string(p))
	b.logger.Debug("simulated power", "power", p)
}

// later does something after a delay unless the BMC is closed first, or a
// newer power command came. b.mu is held by the caller, not by what is done.
func (b *BMC) later(d time.Duration, do func()) {
	if b.closed {
		return
	}
	epoch := b.powerEpoch
	b.tasks.Go(func() {
		if !pause(b.ctx, d) {
			return
		}
		b.mu.Lock()
		stale := b.powerEpoch != epoch
		b.mu.Unlock()
		if !stale {
			do()
		}
	})
}
