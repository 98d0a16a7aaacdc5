package control

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

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

	joining sync.Mutex

	condMu sync.Mutex
	conds  map[string][]protocol.ConditionState // of claims, by name
}

// New reads the epoch and the events from the store.
func New(ctx context.Context, cfg Config) (*Control, error) {
	c := &Control{
		cfg: cfg, log: cfg.Logger, began: cfg.Clock(), mirror: newMirror(), poked: make(chan struct{}, 1),
		conds: map[string][]protocol.ConditionState{}, sends: newSends(),
	}
	c.images = newResolver(c)
	var err error
	if c.epoch, err = c.readEpoch(ctx); err != nil {
		return nil, err
	}
	if c.events, err = loadEvents(ctx, c); err != nil {
		return nil, err
	}
	cfg.Registerer.MustRegister(newMetrics(c))
	return c, nil
}

// resendTick is how often unacknowledged documents are looked at.
const resendTick = time.Second

// Run reconciles until ctx ends.
func (c *Control) Run(ctx context.Context) error {
	changed, stop := c.cfg.Store.Subscribe()
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		c.images.jobs.Run(ctx)
		return nil
	})
	group.Go(func() error {
		tick := time.NewTicker(resendTick)
		defer tick.Stop()
		c.poke()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				c.resend()
				continue
			case <-changed:
			case <-c.poked:
			}
			if err := c.reconcile(ctx); err != nil && ctx.Err() == nil {
				// A conflict is another writer's change, which is on its way here.
				c.log.Warn("reconcile again", "err", err)
				time.AfterFunc(200*time.Millisecond, c.poke)
			}
		}
	})
	return group.Wait()
}

func (c *Control) poke() {
	select {
	case c.poked <- struct{}{}:
	default:
	}
}

// Announce tells agents that the hub is there; they answer with a Hello.
func (c *Control) Announce() {
	c.send(protocol.TopicAnnounce, protocol.Announce{Hub: c.cfg.NewID(), Epoch: c.epoch, At: c.cfg.Clock()})
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
	if err := c.cfg.Publish(topic, sealed); err != nil {
		c.log.Debug("not sent", "topic", topic, "err", err)
	}
}
