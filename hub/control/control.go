package control

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is everything that a Control is made of.
type Config struct {
	Store  *store.Store
	Signer *wire.Signer
	Images Images
	Issuer Issuer
	// Publish sends to agents. What is lost is sent again.
	Publish func(topic string, payload []byte) error
	// CA is PEM of the broker's CA; Broker the URL that agents dial; QoS that of
	// their link, 0 or 1.
	CA     []byte
	Broker string
	QoS    byte

	Clock      state.Clock
	NewID      func() string // ULIDs
	Random     io.Reader
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Images resolves a reference to digests and checks that a boot method can use
// it.
type Images interface {
	Resolve(ctx context.Context, ref, architecture string) (protocol.Image, error)
	Require(img protocol.Image, method protocol.BootTarget) error
}

// Issuer signs the certificate of an agent's link.
type Issuer interface {
	IssueAgent(csr []byte, agent string, validity time.Duration) ([]byte, error)
}

// Control runs the hub's side of the link.
type Control struct {
	cfg    Config
	log    *slog.Logger
	epoch  uint64
	began  time.Time
	images *resolver
	mirror *mirror
	events *events
	sends  *sends
	poked  chan struct{}

	holding    sync.Mutex // see holds
	holdsPoked chan struct{}

	fence     protocol.Fence
	fencedAt  atomic.Int64 // when another hub took over, in ns; 0 if none did
	contacts  *contacts
	strangers *rate.Limiter // bounds the answers to agents that are none any more
	metrics   *metrics

	announceMu sync.Mutex
	announced  announcement

	joining  sync.Mutex
	auditing sync.Mutex

	firmwareEnds atomic.Int64 // when the next mark of firmware work is over, in ns; 0 if there is none

	conds, bmcConds, serverConds, agentConds *condBook // by name

	asks     *asks
	readings *readings
	found    *foundBook
}

// New reads the epoch and the events from the store, and makes this start of the hub
// the newest on it.
func New(ctx context.Context, cfg Config) (*Control, error) {
	c := &Control{
		cfg: cfg, log: cfg.Logger, began: cfg.Clock(), mirror: newMirror(), poked: make(chan struct{}, 1), holdsPoked: make(chan struct{}, 1),
		conds: newCondBook(), bmcConds: newCondBook(), serverConds: newCondBook(), agentConds: newCondBook(),
		sends: newSends(), contacts: newContacts(), asks: newAsks(), readings: newReadings(), found: newFoundBook(),
		strangers: rate.NewLimiter(strangerRate, strangerRate),
	}
	c.images = newResolver(c)
	var err error
	if c.epoch, err = c.readEpoch(ctx); err != nil {
		return nil, err
	}
	if c.events, err = loadEvents(ctx, c); err != nil {
		return nil, err
	}
	if c.fence, err = takeFence(ctx, cfg.Store, c.nonce()); err != nil {
		return nil, err
	}
	c.metrics = newMetrics(c)
	cfg.Registerer.MustRegister(c.metrics)
	return c, nil
}

// tickPause is how often it is looked at what is due.
const tickPause = time.Second

// strangerRate is how many agents that are none any more are answered each second.
const strangerRate = 10

// Run reconciles until ctx ends.
func (c *Control) Run(ctx context.Context) error {
	changed, stop := c.cfg.Store.Subscribe()
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		c.images.jobs.Run(ctx)
		return nil
	})
	c.runHolds(ctx, group)
	group.Go(func() error {
		tick := time.NewTicker(tickPause)
		defer tick.Stop()
		c.poke()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				c.tick()
				continue
			case <-changed:
			case <-c.poked:
			}
			begun := time.Now()
			if err := c.reconcile(ctx); err != nil && ctx.Err() == nil {
				// A conflict is another writer's change, which is on its way here.
				c.log.Warn("reconcile again", "err", err)
				time.AfterFunc(200*time.Millisecond, c.poke)
			}
			rest(ctx, begun)
		}
	})
	return group.Wait()
}

func (c *Control) poke() {
	for _, p := range []chan struct{}{c.poked, c.holdsPoked} {
		select {
		case p <- struct{}{}:
		default:
		}
	}
}

// Between two rounds of what each write to the store causes is a pause of restShare
// times what the last one took, at most restMax: a set that is applied to a large fleet
// is hundreds of writes, and most of the time is left to holds and to others.
const (
	restShare = 2
	restMax   = 200 * time.Millisecond
)

func rest(ctx context.Context, begun time.Time) {
	t := time.NewTimer(min(restShare*time.Since(begun), restMax))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// tick sends what is due.
func (c *Control) tick() {
	if c.overtaken() {
		return
	}
	now := c.cfg.Clock()
	c.resend()
	c.syncs(now)
	c.announceAgain(now)
	c.asksAgain(now)
	c.readInventories(now)
	c.firmwareDue(now)
}

func (c *Control) send(topic string, msg any) {
	data, err := wire.Seal(c.cfg.Signer, topic, msg)
	if err != nil {
		c.log.Error("cannot seal", "topic", topic, "err", err)
		return
	}
	c.publish(topic, data)
}

func (c *Control) publish(topic string, sealed []byte) {
	c.metrics.count(topic)
	if err := c.cfg.Publish(topic, sealed); err != nil {
		c.log.Debug("not sent", "topic", topic, "err", err)
	}
}
