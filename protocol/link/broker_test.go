package link

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"rackboot/integration/memnet"
)

// place is where a broker is reached; the broker behind it comes and goes.
type place struct {
	mu       sync.Mutex
	listener *memnet.Listener
	server   *mochi.Server
	dials    []time.Time
	acl      *acl
}

// acl refuses filters that begin with "refused", and counts publishes.
type acl struct {
	mochi.HookBase
	mu     sync.Mutex
	ids    []string
	topics []string
	flags  []packets.FixedHeader
	clean  bool
}

func (a *acl) ID() string { return "acl" }
func (a *acl) Provides(b byte) bool {
	return b == mochi.OnConnectAuthenticate || b == mochi.OnACLCheck || b == mochi.OnPublish
}

func (a *acl) OnConnectAuthenticate(_ *mochi.Client, p packets.Packet) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids = append(a.ids, p.Connect.ClientIdentifier)
	a.clean = p.Connect.Clean && p.ProtocolVersion == 4
	return true
}

func (a *acl) OnACLCheck(_ *mochi.Client, topic string, _ bool) bool {
	return !strings.HasPrefix(topic, "refused")
}

func (a *acl) OnPublish(_ *mochi.Client, p packets.Packet) (packets.Packet, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.topics = append(a.topics, p.TopicName)
	a.flags = append(a.flags, p.FixedHeader)
	return p, nil
}

func newPlace() *place { return &place{acl: &acl{}} }

func (p *place) up(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	quiet := slog.New(slog.DiscardHandler)
	p.server = mochi.New(&mochi.Options{Logger: quiet, InlineClient: true})
	if err := p.server.AddHook(p.acl, nil); err != nil {
		t.Fatal(err)
	}
	p.listener = memnet.Listen("broker")
	if err := p.server.AddListener(listeners.NewNet("mem", p.listener)); err != nil {
		t.Fatal(err)
	}
	if err := p.server.Serve(); err != nil {
		t.Fatal(err)
	}
}

// down cuts the connections first and lets the broker forget their clients: its
// Close takes a read lock twice, and one that is forgotten in between is a deadlock.
func (p *place) down() {
	p.mu.Lock()
	_ = p.listener.Close()
	p.mu.Unlock()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.server.Close()
}

func (p *place) send(t *testing.T, topic, payload string) {
	t.Helper()
	if err := p.server.Publish(topic, []byte(payload), false, 0); err != nil {
		t.Error(err)
	}
}

func (p *place) dialTimes() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dials)
}

// inbox keeps what a link received.
type inbox struct {
	mu   sync.Mutex
	got  []string
	ups  int
	logs bytes.Buffer
}

func (b *inbox) take(topic string, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, topic+"="+string(payload))
}

func (b *inbox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

func (b *inbox) connects() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ups
}

// start runs a link in the bubble until the test ends.
func start(t *testing.T, c Config) *Link {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return l
}

func (p *place) config(b *inbox) Config {
	return Config{
		Broker:    "mqtt://127.0.0.1",
		Subscribe: []string{"d/#"},
		OnMessage: b.take,
		OnConnect: func(context.Context) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ups++
		},
		Logger: slog.New(slog.NewTextHandler(&b.logs, nil)),
	}.dialling(p)
}

func (c Config) dialling(p *place) Config {
	c.Dial = p.dial
	return c
}

func (p *place) dial(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials = append(p.dials, time.Now())
	if p.listener == nil {
		return nil, syscall.ECONNREFUSED
	}
	return p.listener.Dial(ctx)
}
