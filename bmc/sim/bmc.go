package sim

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"rackboot/protocol"
)

// Config configures a simulated BMC.
type Config struct {
	Machine     Machine   // required; Close of the BMC closes it
	More        []Machine // of further systems, in the order of the tree; closed likewise
	Personality Personality
	Identity    Identity
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
	logger      *slog.Logger
	fingerprint string
	front       *front
	ctx         context.Context
	cancel      context.CancelFunc
	tasks       sync.WaitGroup
	tree        *Tree
	layout      layout
	hosts       []*Host
	routes      map[string]handle // by method and folded URI
	sender      http.RoundTripper
	fetches     bool

	mu            sync.Mutex
	personality   Personality
	users         []*bmcUser
	dice          *rand.Rand
	versions      map[string]uint64 // of ETags, by folded URI
	sessions      map[string]*session
	wrong         int // passwords in a row
	lockedAt      time.Time
	jobs          []*job
	moves         movedSystem
	subscriptions []*subscription
	streams       map[chan []byte]struct{}
	events        int // serial number
	mains         bool
	restarted     bool
	closed        bool
	faults        []Fault
	history       []Record
}

// New makes a BMC and serves it, unless its personality is down. It fails with
// invalid if there is no machine or no system for one, and if the listener
// cannot be opened.
func New(config Config) (*BMC, error) {
	if config.Machine == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new", "a BMC needs a machine")
	}
	cert, fingerprint, err := newCertificate()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "sim.new", "make certificate: %w", err)
	}
	b := newBMC(config, fingerprint)
	if len(b.hosts) == 0 {
		b.cancel()
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new", "the tree has no system with a reset action")
	}
	b.front, err = newFront(b, []tls.Certificate{cert}, config.Personality.Wire.H2Only, config.Listen)
	if err != nil {
		b.cancel()
		return nil, protocol.Errorf(protocol.CodeUnavailable, "sim.new", "listen: %w", err)
	}
	if err := b.SetReach(config.Personality.Reach); err != nil {
		b.cancel()
		return nil, err
	}
	return b, nil
}

func newBMC(config Config, fingerprint string) *BMC {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	b := &BMC{
		logger:      config.Logger,
		fingerprint: fingerprint,
		personality: config.Personality,
		users:       newUsers(config),
		tree:        config.Personality.Tree,
		sender:      config.Sender,
		fetches:     config.Fetches,
		dice:        newDice(config.Seed),
		versions:    make(map[string]uint64),
		sessions:    make(map[string]*session),
		streams:     make(map[chan []byte]struct{}),
		mains:       true,
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if b.sender == nil {
		b.sender = &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		}
	}
	if b.tree == nil {
		b.tree = GenericTree()
	}
	b.tree = b.tree.of(config.Identity)
	b.layout = b.tree.survey()
	machines := append([]Machine{config.Machine}, config.More...)
	for i, p := range b.layout.systems {
		if i < len(machines) {
			b.hosts = append(b.hosts, newHost(b, p, machines[i]))
		}
	}
	b.routes = b.router()
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

// Adjust changes the personality from the next request on. DropOns counts anew;
// Reach is changed by SetReach only, Tree and Wire.H2Only not at all.
func (b *BMC) Adjust(change func(*Personality)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.personality)
	for _, h := range b.hosts {
		h.dropOns = b.personality.DropOns
	}
}

// SetCredentials changes the first account; open sessions end.
func (b *BMC) SetCredentials(username, password string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users[0].name, b.users[0].password = username, password
	clear(b.sessions)
}

// SetReach changes how the BMC answers the network. It fails if the listener
// cannot be opened again.
func (b *BMC) SetReach(r Reach) error { return b.front.set(r) }

// Close ends the service and the machines.
func (b *BMC) Close() error {
	b.cancel()
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.front.close()
	var failed error
	for _, h := range b.hosts {
		if err := h.machine.Close(); err != nil {
			failed = err
		}
	}
	b.tasks.Wait()
	return failed
}

// after does something after a delay unless the BMC is closed first. b.mu is
// held by the caller, not by what is done.
func (b *BMC) after(d time.Duration, do func()) {
	if b.closed {
		return
	}
	b.tasks.Go(func() {
		if pause(b.ctx, d) {
			do()
		}
	})
}

// forgetRuntime ends what does not outlive a restart of the BMC. b.mu is held.
func (b *BMC) forgetRuntime() {
	clear(b.sessions)
	b.subscriptions, b.jobs, b.wrong = nil, nil, 0
	b.closeStreams()
}
