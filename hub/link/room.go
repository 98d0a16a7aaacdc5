package link

import (
	"context"
	"crypto/ed25519"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/hub/intake"
	"rackboot/hub/terms"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Room is the hub's side of the link. It is safe for concurrent use.
type Room struct {
	cfg      Config
	own      *wire.Verifier // of what this hub signed, also with its keys before
	contacts *contacts
	asks     *asks
	metrics  *metrics

	// Ledgers says what agents were sent, and are.
	Ledgers  *Ledgers
	sender   *sender
	sessions *sessions
	delivery *delivery
	hearing  *hearing
}

// New returns a link of which no agent was heard.
func New(cfg Config) *Room {
	c := &Room{
		cfg: cfg, own: wire.NewVerifier(append([]ed25519.PublicKey{cfg.Signer.Public()}, cfg.PastKeys...)...),
		contacts: newContacts(), asks: newAsks(), metrics: newMetrics(),
	}
	c.sender = &sender{cfg: cfg, metrics: c.metrics}
	c.Ledgers = &Ledgers{cfg: cfg, own: c.own}
	c.sessions = &sessions{cfg: cfg, contacts: c.contacts, sender: c.sender, metrics: c.metrics}
	c.delivery = &delivery{cfg: cfg, contacts: c.contacts, sender: c.sender, sends: newSends()}
	c.hearing = &hearing{
		cfg: cfg, own: c.own, contacts: c.contacts, asks: c.asks, metrics: c.metrics,
		ledgers: c.Ledgers, sender: c.sender, sessions: c.sessions, delivery: c.delivery,
		strangers: rate.NewLimiter(strangerRate, strangerRate), unknowns: rate.NewLimiter(rate.Every(time.Minute), unknownBurst),
	}
	return c
}

// Open opens what this hub has signed for a topic.
func (c *Room) Open(topic string, sealed []byte, into any) error {
	return wire.Open(c.own, topic, sealed, into)
}

// OpenOf opens what an agent has signed.
func (c *Room) OpenOf(a *resource.Agent, topic string, sealed []byte, into any) error {
	return wire.Open(c.hearing.verifier(a), topic, sealed, into)
}

// Receive takes one message of an agent at once.
func (c *Room) Receive(topic string, payload []byte) {
	m, ok := intake.Parse(topic, payload)
	if !ok {
		c.Misplaced()
		return
	}
	c.Take(m)
}

// Misplaced implements [intake.Handler].
func (c *Room) Misplaced() { c.metrics.refused.WithLabelValues(string(reasonTopic)).Inc() }

// Take implements [intake.Handler]. A message that is not signed by the agent that its topic names
// is refused, and noted at that agent. The parts of what an agent reports are its shards.
func (c *Room) Take(m intake.Message) (part, parts int) { return c.hearing.take(m) }

// Report takes an agent's report into the mirror and files what it signed. An
// agent can only speak of its own rack's servers. taken says that older reports of the
// shard are worth nothing any more.
func (c *Room) Report(ctx context.Context, a *resource.Agent, m message.Report) (taken bool, err error) {
	return c.hearing.report(ctx, a, m)
}

// Announce tells agents that the hub is there; they answer with a Hello. It is made
// anew for each connection of the hub.
func (c *Room) Announce() { c.sender.announce() }

// AnnounceNonce is that of the last announcement of this run.
func (c *Room) AnnounceNonce() string { return c.sender.announceNonce() }

// Dismiss tells an agent that its term is over.
func (c *Room) Dismiss(agent, session string, e terms.Ending) { c.sender.dismiss(agent, session, e) }

// TellCopied tells the agents of one disk at once what is known of them.
func (c *Room) TellCopied(agent string) { c.sessions.tellCopied(agent) }

// Resend sends to every agent what it has not acknowledged.
func (c *Room) Resend() { c.delivery.all() }

// SendTo sends what one agent has not acknowledged, holds first. What another
// start of the hub sealed waits until it has been sealed again.
func (c *Room) SendTo(agent string, now time.Time) { c.delivery.to(agent, now) }

// Tick sends what is due.
func (c *Room) Tick(now time.Time) {
	c.Resend()
	c.sessions.syncs(now)
	c.asksAgain(now)
}

// Takes has this hub work an agent that another one has worked: it forgets what was said before, and asks for a Hello.
// It reports whether it could: of an agent that was not heard yet the session is not known, and an announcement asks it.
func (c *Room) Takes(agent string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
		return false
	}
	session := c.contacts.see(agent).overheard
	c.contacts.drop(agent)
	c.Ledgers.lines.drop(agent)
	c.cfg.Reports.Anew(agent)
	if session == "" {
		return false
	}
	c.contacts.with(agent, func(k *contact) { k.overheard = session })
	c.sessions.ask(agent, session, l, "")
	return true
}

// Lacks counts the reports of agents that another hub works which this one could not take: they tell a change of what it has
// not heard.
func (c *Room) Lacks() uint64 { return c.hearing.lacks.Load() }

var _ prometheus.Collector = (*Room)(nil)
