package faults

import (
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"rackboot/integration/memnet"
	"rackboot/protocol/link"
)

// delivery is what becomes of one message: some bytes on some topic, after a while.
type delivery struct {
	after   time.Duration
	topic   string
	payload []byte
}

// policy says what becomes of a message: no delivery is a loss, two a duplicate.
type policy func(topic string, payload []byte) []delivery

func honest(topic string, payload []byte) []delivery {
	return []delivery{{0, topic, payload}}
}

// broker is a network with a real MQTT broker, to which every process has a line
// of its own. What the broker does with messages is for its policy to say.
type broker struct {
	site *site

	mu     sync.Mutex
	server *mochi.Server
	round  int // of the broker's lives
	lines  map[string]*line
	policy policy
}

// line is where the processes of one name dial.
type line struct {
	listener *memnet.Listener
	down     bool
}

func newBroker(s *site) network {
	b := &broker{site: s, lines: map[string]*line{}, policy: honest}
	b.start()
	return b
}

// brokerHook authenticates nobody, and lets the policy decide.
type brokerHook struct {
	mochi.HookBase
	broker *broker
}

func (*brokerHook) ID() string { return "faults" }

func (*brokerHook) Provides(b byte) bool {
	return slices.Contains([]byte{mochi.OnConnectAuthenticate, mochi.OnACLCheck, mochi.OnPublish}, b)
}

func (*brokerHook) OnConnectAuthenticate(*mochi.Client, packets.Packet) bool { return true }
func (*brokerHook) OnACLCheck(*mochi.Client, string, bool) bool              { return true }

// OnPublish takes the message of a client away and sends what the policy says.
func (h *brokerHook) OnPublish(c *mochi.Client, p packets.Packet) (packets.Packet, error) {
	if c.Net.Inline {
		return p, nil
	}
	b := h.broker
	b.mu.Lock()
	decide := b.policy
	b.mu.Unlock()
	for _, d := range decide(p.TopicName, slices.Clone(p.Payload)) {
		b.send(d)
	}
	return p, packets.ErrRejectPacket
}

// send delivers once, if the broker is still the same one then. What is not late
// keeps its order.
func (b *broker) send(d delivery) {
	b.mu.Lock()
	round := b.round
	b.mu.Unlock()
	if d.after == 0 {
		b.deliver(d, round)
		return
	}
	time.AfterFunc(d.after, func() { b.deliver(d, round) })
}

func (b *broker) deliver(d delivery, round int) {
	b.mu.Lock()
	server := b.server
	if b.round != round {
		server = nil
	}
	b.mu.Unlock()
	if server != nil {
		_ = server.Publish(d.topic, d.payload, false, 0) // to nobody is a loss like any other
	}
}

func (b *broker) setPolicy(p policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.policy = p
}

// start begins a broker's life: nothing of an earlier one is known to it.
func (b *broker) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.round++
	b.server = mochi.New(&mochi.Options{Logger: quiet(), InlineClient: true, SysTopicResendInterval: 3600})
	if err := b.server.AddHook(&brokerHook{broker: b}, nil); err != nil {
		b.site.t.Fatal(err)
	}
	for _, name := range sortedKeys(b.lines) {
		b.listen(name)
	}
	if err := b.server.Serve(); err != nil {
		b.site.t.Fatal(err)
	}
}

func (b *broker) listen(name string) {
	l := b.lines[name]
	l.listener = memnet.Listen(name)
	if err := b.server.AddListener(listeners.NewNet(name, l.listener)); err != nil {
		b.site.t.Fatal(err)
	}
}

// kill ends the broker with all its sessions.
func (b *broker) kill() {
	b.mu.Lock()
	server := b.server
	b.server = nil
	b.round++
	for _, l := range b.lines {
		l.listener.Freeze()
		_ = l.listener.Close()
	}
	b.mu.Unlock()
	if server == nil {
		return
	}
	// Close asks for the clients of each listener under a lock that it takes twice, and hangs
	// where one goes in between (mochi-mqtt v2.7.9, Clients.GetByListener). So they go before.
	for _, c := range server.Clients.GetAll() {
		c.Stop(net.ErrClosed)
	}
	time.Sleep(time.Nanosecond) // of simulated time: they have gone
	_ = server.Close()
}

func (b *broker) stop() { b.kill() }

func (b *broker) attach(e *endpoint) func(string, []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[e.name] == nil {
		b.lines[e.name] = &line{}
		b.listen(e.name)
		b.server.Listeners.Serve(e.name, b.server.EstablishConnection)
	}
	l, err := link.New(link.Config{
		Broker: "mqtt://127.0.0.1", Subscribe: e.subscribe, OnConnect: func(context.Context) { e.up() },
		OnMessage: e.receive, Dial: func(ctx context.Context) (net.Conn, error) { return b.dial(ctx, e) }, Logger: b.site.log.With("link", e.name),
	})
	if err != nil {
		b.site.t.Fatal(err)
	}
	e.link = l
	e.atDeath = append(e.atDeath, func() { b.freeze(e.name) }) // the dead do not say goodbye
	return func(topic string, payload []byte) error {
		ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
		defer cancel()
		if e.dead.Load() {
			return errDown
		}
		return l.Publish(ctx, topic, payload)
	}
}

// publishTimeout is that of the daemons.
const publishTimeout = 5 * time.Second

func (b *broker) dial(ctx context.Context, e *endpoint) (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[e.name]
	if b.server == nil || l.down || e.dead.Load() {
		return nil, syscall.ECONNREFUSED
	}
	return l.listener.Dial(ctx)
}

func (b *broker) connect(e *endpoint) {
	e.wg.Go(func() {
		if err := e.link.Run(e.ctx); err != nil {
			b.site.t.Errorf("the link of %s: %v", e.name, err)
		}
	})
}

func (b *broker) freeze(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[name].listener.Freeze()
}

func (b *broker) cut(name string) {
	b.freeze(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[name].down = true
}

func (b *broker) heal(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[name].down = false
}
