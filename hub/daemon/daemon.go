package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/hub/api"
	"rackboot/hub/broker"
	"rackboot/hub/control"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/metrics"
	"rackboot/protocol"
	"rackboot/protocol/link"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// Options are what Run takes besides the file.
type Options struct {
	Version string
	Logger  *slog.Logger
	// Registry takes the metrics; nil is a new one.
	Registry metrics.Registry
	Crash    state.Crasher // nil in production
	// MaxBackoff bounds the pause between two connections to the broker; 0 is the
	// link's default.
	MaxBackoff time.Duration
	// Ready is called once the API and the broker listen.
	Ready func()
}

// Run serves until ctx ends.
func Run(ctx context.Context, c Config, o Options) error {
	log, reg := o.Logger, o.Registry
	clients, err := c.readClients()
	if err != nil {
		return err
	}
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return err
	}
	// People and agents need the authority's certificate, and nothing else of pki/.
	if err := os.WriteFile(c.path("ca.pem"), keys.CAPEM(), 0o644); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "write the CA's certificate", "%w", err)
	}
	b, err := openBroker(c, keys, log, reg)
	if err != nil {
		return err
	}
	defer b.Close()
	st, err := openStore(ctx, b, log, o.Crash)
	if err != nil {
		return err
	}
	h := &hub{keys: keys, broker: b, store: st, clients: clients, log: log, reg: reg, options: o}
	if err := h.connect(ctx, c); err != nil {
		return err
	}
	return h.serve(ctx, c)
}

// newID makes ids that sort by time, in lower case so that they are names.
func newID() string { return strings.ToLower(ulid.MustNew(ulid.Now(), rand.Reader).String()) }

func openStore(ctx context.Context, b *broker.Broker, log *slog.Logger, crash state.Crasher) (*store.Store, error) {
	conn, err := b.Conn(ctx)
	if err != nil {
		return nil, err
	}
	kv, err := jetstream.OpenKV(ctx, jetstream.Config{Conn: conn, Name: "rackboot", Logger: log})
	if err != nil {
		return nil, err
	}
	facts, err := jetstream.OpenLog(ctx, jetstream.Config{Conn: conn, Name: "rackboot-log", Logger: log})
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Config{KV: kv, Log: facts, Clock: time.Now, NewID: newID, Logger: log, Crash: crash})
}

// hub is a hub being put together.
type hub struct {
	keys    *pki.PKI
	broker  *broker.Broker
	store   *store.Store
	control *control.Control
	link    *link.Link
	clients []api.Client
	log     *slog.Logger
	reg     metrics.Registry
	options Options
}

// publishTimeout bounds how long one message may wait to be sent.
const publishTimeout = 5 * time.Second

func (h *hub) connect(ctx context.Context, c Config) error {
	imgs, err := newImages(c.Images)
	if err != nil {
		return err
	}
	to, err := c.route(h.keys, h.broker.Addr())
	if err != nil {
		return err
	}
	h.control, err = control.New(ctx, control.Config{
		Store: h.store, Signer: h.keys.Signer(), Images: imgs, Issuer: h.keys, CA: to.ca, Broker: to.agents, QoS: to.qos,
		Publish: func(topic string, payload []byte) error {
			ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
			defer cancel()
			return h.link.Publish(ctx, topic, payload)
		},
		Clock: time.Now, NewID: newID, Random: rand.Reader, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	})
	if err != nil {
		return err
	}
	h.link, err = link.New(link.Config{
		Broker: to.hub, TLS: to.tls, QoS: to.qos, Subscribe: []string{protocol.TopicAllUp},
		OnConnect: func(context.Context) { h.control.Announce() }, OnMessage: h.control.Receive,
		MinBackoff: h.options.MaxBackoff / 5, MaxBackoff: h.options.MaxBackoff, Logger: h.log, Registerer: h.reg,
	})
	return err
}

func (h *hub) serve(ctx context.Context, c Config) error {
	a, err := api.New(api.Config{
		Store: h.store, Fleet: h.control, Token: h.keys.AdminToken(), Clients: h.clients, Clock: time.Now, NewID: newID, Registerer: h.reg,
		Logger: h.log, Version: h.options.Version, Ready: h.ready, Writable: h.control.Writable,
	})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.API)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open the API", "%w", err).WithHint("change api in the hub's file, or stop what uses the address")
	}
	group, ctx := errgroup.WithContext(ctx)
	if c.Metrics != "" {
		if err := metrics.Serve(ctx, group, c.Metrics, h.reg, h.log); err != nil {
			_ = ln.Close() // nothing was accepted on it
			return err
		}
	}
	group.Go(func() error { return h.store.Run(ctx) })
	group.Go(func() error { return h.control.Run(ctx) })
	group.Go(func() error { return h.link.Run(ctx) })
	group.Go(func() error { return a.Serve(ctx, ln, h.keys.ServerTLS()) })
	h.log.Info("serving", "api", ln.Addr(), "mqtt", h.broker.Addr(), "broker", c.Broker.URL, "token_file", h.keys.AdminTokenPath())
	h.options.Ready()
	err = group.Wait()
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

func (h *hub) ready() error {
	if !h.link.Connected() {
		return protocol.Errorf(protocol.CodeUnavailable, "serve", "not connected to the broker")
	}
	return h.control.Writable()
}
