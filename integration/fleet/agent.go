package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/link"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// agent is one agent's side of the link. All of it is its goroutine's but for channels,
// link, counts and what is atomic.
type agent struct {
	cfg    *Config
	name   string
	rack   string
	shared *shared
	signer *wire.Signer
	hub    *wire.Verifier
	link   *link.Link

	disk    *disk
	session session
	reports reports
	heads   map[string]document // the hub's, as it last named them

	inbox  chan packet
	up     chan struct{}
	nudges chan struct{}
	spread chan struct{}
	gone   chan struct{} // closed when the goroutine has ended

	answered  atomic.Bool  // and has all documents
	known     atomic.Int32 // servers that documents name
	installed atomic.Int32 // of them, those whose record the hub has
	holding   atomic.Int32 // holds
}

type packet struct {
	topic   string
	payload []byte
}

const (
	// publishTimeout bounds how long one message may wait to be sent.
	publishTimeout = 5 * time.Second
	// inboxSize and nudgesSize bound what waits for the goroutine; beyond the first, the
	// link's queue fills.
	inboxSize  = 8
	nudgesSize = 8
	// connectsPerSecond is how many agents connect at once, about.
	connectsPerSecond = 100
)

func newAgent(cfg *Config, id identity, from net.Addr, c *shared) (*agent, error) {
	pair, err := id.pair()
	if err != nil {
		return nil, err
	}
	pool, err := c.pool(id.brokerCA())
	if err != nil {
		return nil, err
	}
	a := &agent{
		cfg: cfg, name: id.Answer.Agent, rack: id.Answer.Rack, shared: c,
		hub: c.verifier(id.Keys.Everyday), signer: c.signer.Beside(ed25519.NewKeyFromSeed(id.Key)), heads: map[string]document{},
		inbox: make(chan packet, inboxSize), up: make(chan struct{}, 1), nudges: make(chan struct{}, nudgesSize), spread: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	if a.disk, err = openDisk(cfg.Dir, a.rack); err != nil {
		return nil, err
	}
	dial, err := a.dialler(id.broker(), from)
	if err != nil {
		return nil, err
	}
	a.link, err = link.New(link.Config{
		Broker: id.broker(), QoS: id.Answer.QoS, Subscribe: []string{message.TopicDown(a.name, "#"), message.TopicAnnounce},
		TLS:       &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, Certificates: []tls.Certificate{pair}},
		OnConnect: func(context.Context) { c.counts.connects.Add(1); signal(a.up) }, OnMessage: a.arrived, Dial: dial,
		FirstDelay: time.Duration(cfg.Racks) * time.Second / connectsPerSecond, MinBackoff: cfg.Backoff / 5, MaxBackoff: cfg.Backoff,
		Logger: slog.New(slog.DiscardHandler),
	})
	return a, err
}

// dialler connects from an address, or as a test wants; nil is the link's own.
func (a *agent) dialler(broker string, from net.Addr) (func(context.Context) (net.Conn, error), error) {
	u, err := url.Parse(broker)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "connect", "the hub's broker has the address %q", broker)
	}
	port := u.Port()
	if port == "" {
		port = "8883"
	}
	at := net.JoinHostPort(u.Hostname(), port)
	switch {
	case a.cfg.Dial != nil:
		return func(ctx context.Context) (net.Conn, error) { return a.cfg.Dial(ctx, a.rack, at) }, nil
	case from != nil:
		d := net.Dialer{LocalAddr: from}
		return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", at) }, nil
	}
	return nil, nil
}

// arrived is called by the link.
func (a *agent) arrived(topic string, payload []byte) {
	select {
	case a.inbox <- packet{topic, payload}:
	case <-a.gone:
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run is the agent's whole life. Its disk is written when it has ended.
func (a *agent) run(ctx context.Context) error {
	if err := a.disk.inUse(a.cfg.Dir, a.rack); err != nil {
		return err
	}
	var both sync.WaitGroup
	var failed error
	both.Go(func() {
		if failed = a.link.Run(ctx); failed != nil {
			<-ctx.Done()
		}
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case m := <-a.inbox:
			a.receive(time.Now(), m)
		case <-a.up:
			a.session.begin(time.Now())
			a.answered.Store(false)
		case <-a.nudges:
			a.nudge(time.Now())
		case <-a.spread:
			a.reports.spread(time.Now(), a.cfg.ReportEvery)
		case <-timer.C:
		}
		timer.Reset(a.turn(time.Now()))
	}
	close(a.gone)
	both.Wait()
	if failed != nil {
		return failed
	}
	return save(a.cfg.Dir, a.rack, diskFile, a.disk)
}

// turn does what is due, and returns when to look again.
func (a *agent) turn(now time.Time) time.Duration {
	wait := a.servers(now)
	due, rest := a.session.due(now)
	wait = min(wait, rest)
	if due {
		a.hello(now)
	}
	if !a.session.answered {
		return wait
	}
	wait = min(wait, a.report(now))
	events, rest := a.disk.Events.batch(now, a.session.id)
	if len(events) > 0 && a.publish(message.LeafEvent, message.EventBatch{Agent: a.name, Incarnation: a.disk.Incarnation, Session: a.session.id, Events: events}) {
		a.shared.counts.events.Add(int64(len(events)))
	}
	return max(min(wait, rest), time.Millisecond)
}

// servers does what is due at the servers.
func (a *agent) servers(now time.Time) time.Duration {
	t := turn{now: now, agent: a}
	for _, s := range a.disk.Servers {
		t.step(s)
	}
	if t.moved {
		a.reports.news(now, t.hurry)
	}
	if t.recall.IsZero() {
		return never
	}
	return t.recall.Sub(now)
}

// count says how far the agent is to who watches the fleet.
func (a *agent) count() {
	known, installed, holds := 0, 0, 0
	for _, s := range a.disk.Servers {
		holds += len(s.Holds)
		if s.Missing {
			continue
		}
		known++
		if s.Owner != "" && s.Boot != nil && s.Boot.Echo {
			installed++
		}
	}
	a.known.Store(int32(known))
	a.installed.Store(int32(installed))
	a.holding.Store(int32(holds))
	a.answered.Store(a.session.answered && !a.lacks())
}

// lacks says whether the hub has named documents that are not in force.
func (a *agent) lacks() bool {
	for leaf, m := range a.heads {
		if own := a.disk.Docs[leaf]; own != m && !own.Head.Newer(m.Head) {
			return true
		}
	}
	return len(a.heads) == 0
}

// nudge has something happen to a server: its operating system restarts, which an agent
// sees, tells and records.
func (a *agent) nudge(now time.Time) {
	if len(a.disk.Servers) == 0 {
		return
	}
	s := a.disk.Servers[rand.N(len(a.disk.Servers))]
	s.Restarts++
	a.disk.Events.add(resource.Event{At: now, Server: s.Name, Code: resource.EventPowerSeen, Message: "restarted"})
	a.reports.news(now, false)
	a.shared.counts.news.Add(1)
}

// seal signs a fact.
func (a *agent) seal(fact string, v any) []byte {
	out, err := wire.Seal(a.signer, fact, v)
	if err != nil {
		a.shared.counts.fail(err)
	}
	return out
}

// publish signs and sends. What is lost is sent again: documents by the hub, reports and
// events by the agent.
func (a *agent) publish(leaf string, msg any) bool {
	topic := message.TopicUp(a.name, leaf)
	data := a.seal(topic, msg)
	if data == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	return a.link.Publish(ctx, topic, data) == nil
}
