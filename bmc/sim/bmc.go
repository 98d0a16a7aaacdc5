package sim

import (
	"log/slog"
	"net"
	"net/http"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// Config configures a simulated BMC.
type Config struct {
	Machine     hardware.Machine   // required; Close of the BMC closes it
	More        []hardware.Machine // of further systems, in the order of the tree; closed likewise
	Personality Personality
	Identity    tree.Identity
	Username    string
	Password    string
	// Listen opens the listener; nil is 127.0.0.1 with a free port. After
	// ReachRefused it is called again and must give the same address.
	Listen func() (net.Listener, error)
	Logger *slog.Logger // nil for none
	Seed   uint64       // of the latencies
	// Fetches makes the BMC fetch the images that are inserted, and its hosts read them.
	Fetches bool
	// Sender delivers events to webhooks; nil is HTTP that trusts every server.
	Sender http.RoundTripper
}

// BMC is a simulated BMC. Its methods are safe for concurrent use.
type BMC struct {
	fingerprint string
	front       *front
	later       *delay.Later
	manner      *manner
	faults      *faults
	diary       *diary
	jobs        *jobs
	accounts    *accounts
	sessions    *sessions
	events      *events
	moves       *movedSystem
	service     *service
	hosts       []*Host
}

// New makes a BMC and serves it, unless its personality is down. It fails with
// invalid if there is no machine or no system for one, and if the listener
// cannot be opened.
func New(config Config) (*BMC, error) {
	if config.Machine == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new", "a BMC needs a machine")
	}
	wire := config.Personality.Wire
	cert, fingerprint, err := newCertificate(wire.OldTLS)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "sim.new", "make certificate: %w", err)
	}
	f, err := newFront(tlsOf(cert, wire), wire.H2Only, config.Listen)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "sim.new", "listen: %w", err)
	}
	b := newBMC(config, f.address)
	b.front, b.fingerprint = f, fingerprint
	if len(b.hosts) == 0 {
		f.close()
		b.later.Stop()
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new", "the tree has no system with a reset action")
	}
	f.begin(b.service)
	if err := b.SetReach(config.Personality.Reach); err != nil {
		f.close()
		b.later.Stop()
		return nil, err
	}
	return b, nil
}

// newBMC puts the parts together; address is where they are reached.
func newBMC(config Config, address string) *BMC {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	t := config.Personality.Tree
	if t == nil {
		t = tree.Generic()
	}
	t = t.WithIdentity(config.Identity)
	l := t.Survey()
	m := newManner(config.Personality)
	g := newTags(m)
	b := &BMC{later: delay.New(), manner: m, faults: newFaults(), diary: newDiary(), moves: new(movedSystem)}
	b.jobs = newJobs(m, g, t, l.Tasks)
	b.accounts = newAccounts(m, g, b.later, l.Sessions, config.Username, config.Password)
	b.sessions = newSessions(m, g, t, l.Sessions, b.accounts)
	b.events = newEvents(m, g, t, l, b.later, config.Sender)
	d := desk{
		tree: t, manner: m, tags: g, diary: b.diary, jobs: b.jobs, events: b.events, later: b.later, logger: config.Logger,
		fetches: config.Fetches, address: address,
	}
	machines := append([]hardware.Machine{config.Machine}, config.More...)
	for i, p := range l.Systems {
		if i < len(machines) {
			b.hosts = append(b.hosts, newHost(d, p, machines[i]))
		}
	}
	r := newRouter(t, g)
	(&root{tree: t, tags: g, manner: m, collection: l.Collection}).routes(r, l.Managers)
	b.sessions.routes(r)
	b.accounts.routes(r)
	b.events.routes(r)
	b.jobs.routes(r)
	b.service = &service{
		manner: m, faults: b.faults, sessions: b.sessions, accounts: b.accounts, moves: b.moves, router: r, dice: newDice(config.Seed),
	}
	for i, h := range b.hosts {
		if i == 0 {
			u := &updates{manner: m, jobs: b.jobs, later: b.later, moves: b.moves, host: h.place.URI, power: h.power}
			r.add("POST", l.Update, u.post)
			for _, uri := range l.Tasks {
				r.add("POST", uri, h.bios.commit)
			}
		}
		h.routes(r)
		b.service.supplies = append(b.service.supplies, h.supply)
	}
	return b
}

// Address is https://host:port.
func (b *BMC) Address() string { return "https://" + b.front.address }

// Fingerprint is sha256:<hex> of the certificate.
func (b *BMC) Fingerprint() string { return b.fingerprint }

// Hosts are the systems with a machine, in the order of the tree.
func (b *BMC) Hosts() []*Host { return append([]*Host(nil), b.hosts...) }

// PowerState is the power state that the BMC holds for the first host.
func (b *BMC) PowerState() protocol.PowerState { return b.hosts[0].PowerState() }

// Override is the override that the BMC holds for the first host.
func (b *BMC) Override() protocol.Override { return b.hosts[0].Override() }

// History is what happened, oldest first.
func (b *BMC) History() []Record { return b.diary.all() }

// Adjust changes the personality from the next request on. DropOns counts anew;
// Reach is changed by SetReach only, Tree, Wire.H2Only and Wire.OldTLS not at all.
func (b *BMC) Adjust(change func(*Personality)) {
	p := b.manner.adjust(change)
	for _, h := range b.hosts {
		h.power.adjusted(p.DropOns)
	}
}

// Inject adds faults. Faults are matched in the order of their injection.
func (b *BMC) Inject(faults ...Fault) { b.faults.inject(faults...) }

// ClearFaults forgets the faults that were not used.
func (b *BMC) ClearFaults() { b.faults.clear() }

// SetCredentials changes the first account; open sessions end.
func (b *BMC) SetCredentials(username, password string) {
	b.accounts.rename(username, password)
	b.sessions.clear()
}

// Logs says whether an account logs in now, without counting it.
func (b *BMC) Logs(username, password string) bool { return b.accounts.logs(username, password) }

// Password is that of a user, for tests that look where it is not to be.
func (b *BMC) Password(username string) string { return b.accounts.password(username) }

// Wrong is how many wrong passwords came in a row.
func (b *BMC) Wrong() int { return b.accounts.wrongs() }

// SendEvent delivers an event with a MessageId and the URI that it is about, as
// hardware would cause it.
func (b *BMC) SendEvent(messageID, origin string) {
	b.events.send(tree.Object{"EventType": "Alert", "MessageId": messageID, "Severity": "OK", "OriginOfCondition": tree.Link(origin)})
}

// MoveSystem gives the first system another path, as an update of the BMC's firmware may.
func (b *BMC) MoveSystem(to string) { b.moves.to(b.hosts[0].place.URI, to) }

// SetBIOS gives BIOS attributes of the first host other values, as somebody at its console does in the firmware's menus.
func (b *BMC) SetBIOS(attributes tree.Object) { b.hosts[0].bios.set(attributes) }

// ClearOverride takes the boot override of the first host away, as somebody at the BMC's page does.
func (b *BMC) ClearOverride() { b.hosts[0].override.clear() }

// PressPowerButton presses the button of the first host.
func (b *BMC) PressPowerButton() { b.hosts[0].PressPowerButton() }

// ExternalOn powers the first host on past us.
func (b *BMC) ExternalOn() { b.hosts[0].ExternalOn() }

// PullPower takes mains power away, from machines and BMC at once.
func (b *BMC) PullPower() error {
	b.diary.record(RecordExternal, "mains lost")
	for _, h := range b.hosts {
		h.power.unplugged()
	}
	b.forgetRuntime()
	if err := b.SetReach(ReachRefused); err != nil {
		return err
	}
	var failed error
	for _, h := range b.hosts {
		if err := h.power.cut(); err != nil {
			failed = err
		}
	}
	return failed
}

// RestorePower gives mains power back: the BMC answers, and the machines start
// by their restore policy.
func (b *BMC) RestorePower() error {
	if err := b.SetReach(ReachOK); err != nil {
		return err
	}
	b.diary.record(RecordExternal, "mains back")
	for _, h := range b.hosts {
		h.power.plugged(h.RestorePolicy())
	}
	return nil
}

// Restart is a restart of the BMC alone: sessions, subscriptions and tasks are
// gone, the machines run on.
func (b *BMC) Restart() {
	b.diary.record(RecordExternal, "BMC restart")
	for _, h := range b.hosts {
		h.system.restarted.Store(true)
	}
	b.forgetRuntime()
}

// SetReach changes how the BMC answers the network. It fails if the listener
// cannot be opened again.
func (b *BMC) SetReach(r Reach) error { return b.front.set(r) }

// Close ends the service and the machines.
func (b *BMC) Close() error {
	b.later.Stop()
	b.front.close()
	var failed error
	for _, h := range b.hosts {
		if err := h.machine.Close(); err != nil {
			failed = err
		}
	}
	b.later.Wait()
	return failed
}

// forgetRuntime ends what does not outlive a restart of the BMC.
func (b *BMC) forgetRuntime() {
	b.sessions.clear()
	b.jobs.forget()
	b.accounts.forgive()
	b.events.forget()
}
