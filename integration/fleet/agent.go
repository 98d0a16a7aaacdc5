package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"rackboot/protocol/link"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// agent is one agent's side of the link. All of it is its goroutine's but for channels, cables, progress, counts and
// what is atomic.
type agent struct {
	cfg    *Config
	name   string
	rack   string
	shared *shared
	signer *wire.Signer
	hub    *wire.Verifier
	config link.Config // of each line, but for what is of one

	disk    *disk
	session session
	reports reports
	heads   map[string]document // the hub's, as it last named them
	line    line
	cables  cables

	nudges   chan struct{}
	spread   chan struct{}
	tasks    chan task
	gone     chan struct{} // closed when the goroutine has ended
	progress progress
}

const (
	// publishTimeout bounds how long one message may wait to be sent.
	publishTimeout = 5 * time.Second
	// nudgesSize and tasksSize bound what waits for the goroutine.
	nudgesSize = 8
	tasksSize  = 8
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
		nudges: make(chan struct{}, nudgesSize), spread: make(chan struct{}, 1), tasks: make(chan task, tasksSize), gone: make(chan struct{}),
	}
	if a.disk, err = openDisk(cfg.Dir, a.rack); err != nil {
		return nil, err
	}
	dial, err := a.dialler(id.broker(), from)
	if err != nil {
		return nil, err
	}
	a.config = link.Config{
		Broker: id.broker(), QoS: id.Answer.QoS, Subscribe: []string{message.TopicDown(a.name, "#"), message.TopicAnnounce},
		TLS:        &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, Certificates: []tls.Certificate{pair}},
		Dial:       a.cables.dialler(dial),
		MinBackoff: cfg.Backoff / 5, MaxBackoff: cfg.Backoff,
	}
	return a, nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run is the agent's whole life. Its disk is written when it has ended.
func (a *agent) run(ctx context.Context) error {
	defer close(a.gone)
	defer a.cables.end()
	if err := a.disk.inUse(a.cfg.Dir, a.rack); err != nil {
		return err
	}
	delay := time.Duration(lot(a.cfg.Seed, "connect", a.rack) * float64(time.Duration(a.cfg.Racks)*time.Second/connectsPerSecond))
	if err := a.connect(ctx, delay); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case m := <-a.line.inbox:
			a.receive(time.Now(), m)
		case <-a.line.up:
			a.session.begin(time.Now())
			a.progress.answered.Store(false)
			a.progress.session.Store(time.Now().UnixNano())
		case o := <-a.tasks:
			if err := o(ctx, time.Now()); err != nil {
				return errors.Join(err, a.disconnect())
			}
		case <-a.nudges:
			a.nudge(time.Now())
		case <-a.spread:
			a.reports.spread(time.Now(), a.cfg.ReportEvery)
		case <-timer.C:
		}
		timer.Reset(a.turn(time.Now()))
	}
	if err := a.disconnect(); err != nil {
		return err
	}
	return save(a.cfg.Dir, a.rack, diskFile, a.disk)
}

// turn does what is due, and returns when to look again.
func (a *agent) turn(now time.Time) time.Duration {
	if a.line.link == nil {
		return never
	}
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
		a.count()
	}
	if t.recall.IsZero() {
		return never
	}
	return t.recall.Sub(now)
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
	if len(a.disk.Servers) == 0 || a.line.link == nil {
		return
	}
	s := a.disk.Servers[rand.N(len(a.disk.Servers))]
	s.Restarts++
	a.disk.Events.add(resource.Event{At: now, Server: s.Name, Code: resource.EventPowerSeen, Message: "restarted"})
	a.reports.news(now, false)
	a.count()
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
	return a.line.link.Publish(ctx, topic, data) == nil
}
