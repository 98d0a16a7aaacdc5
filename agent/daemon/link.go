package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"time"

	"rackboot/agent"
	"rackboot/internal/metrics"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/link"
)

// Link is what the file says about the connection to the broker. What it leaves
// out is as joining gave it.
type Link struct {
	// Broker is the URL to dial: mqtts://host:port, or mqtt:// on loopback.
	Broker string `yaml:"broker"`
	// API are URLs of the hub's API, https://host:port, in the order in which they are
	// tried.
	API []string `yaml:"api"`
	// CAFile is PEM of the CA that signed the broker's certificate.
	CAFile string `yaml:"caFile"`
	// QoS is 0 or 1.
	QoS *byte `yaml:"qos"`
	// FirstDelay bounds the random wait before the first connection, so that racks
	// that were powered on together do not arrive together. LoadConfig makes it
	// [DefaultFirstDelay]; nil is none.
	FirstDelay *time.Duration `yaml:"firstDelay"`
}

// DefaultFirstDelay is Link.FirstDelay of a file that does not give it.
const DefaultFirstDelay = 30 * time.Second

func (l *Link) check() error {
	if l.Broker != "" {
		if err := link.CheckBroker(l.Broker); err != nil {
			return fmt.Errorf("link.broker: %w", err)
		}
	}
	for i, a := range l.API {
		if _, err := api.NewClient(api.Config{BaseURL: a}); err != nil {
			return fmt.Errorf("link.api[%d]: %w", i, err)
		}
	}
	if l.QoS != nil && *l.QoS > 1 {
		return fmt.Errorf("link.qos: %d is not 0 or 1", *l.QoS)
	}
	if l.FirstDelay == nil {
		l.FirstDelay = new(DefaultFirstDelay)
	}
	if *l.FirstDelay < 0 {
		return fmt.Errorf("link.firstDelay: %s is negative", *l.FirstDelay)
	}
	return nil
}

// config is the link that the file and the identity say together.
func (l Link) config(id identity) (link.Config, error) {
	const op = "read the agent's file"
	tlsConfig, err := id.tls()
	if err != nil {
		return link.Config{}, err
	}
	out := link.Config{Broker: id.brokers()[0], QoS: id.Answer.QoS, TLS: tlsConfig, Subscribe: agent.Subscriptions(id.Answer.Agent)}
	if l.Broker != "" {
		out.Broker = l.Broker
	}
	if l.QoS != nil {
		out.QoS = *l.QoS
	}
	if l.FirstDelay != nil {
		out.FirstDelay = *l.FirstDelay
	}
	if l.CAFile != "" {
		ca, err := os.ReadFile(l.CAFile)
		if err != nil {
			return link.Config{}, protocol.Errorf(protocol.CodeInvalid, op, "link.caFile: %w", err)
		}
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(ca) {
			return link.Config{}, protocol.Errorf(protocol.CodeInvalid, op, "link.caFile: %s has no certificate", l.CAFile).
				WithHint("give the PEM file of the CA that signed the broker's certificate")
		}
	}
	return out, nil
}

// publishTimeout bounds how long one message may wait to be sent.
const publishTimeout = 5 * time.Second

type transport struct{ link *link.Link }

func (t transport) Publish(topic string, payload []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	return t.link.Publish(ctx, topic, payload)
}

// haste is why an agent does not wait before its first connection: nothing is known to it yet,
// and a fleet does not join at once; or it was connected before, or has to say that it only guards. One that waits for
// the hub's answer does not wait long.
type haste struct{ fresh, again, waits bool }

// waitsDelay bounds Link.FirstDelay of an agent that only does what holds want until the hub has answered. It is well below
// the time after which it goes on without.
const waitsDelay = 5 * time.Second

// dial makes the link. What the hub changes of endpoints, authorities and the agent's
// certificate counts from the next connection on; the present one stays.
func (l Link) dial(keep *keeper, a *agent.Agent, why haste, maxBackoff time.Duration, log *slog.Logger, reg metrics.Registry) (*link.Link, error) {
	c, err := l.config(keep.now())
	if err != nil {
		return nil, err
	}
	if why.fresh || why.again {
		c.FirstDelay = 0
	}
	if why.waits {
		c.FirstDelay = min(c.FirstDelay, waitsDelay)
	}
	if why.fresh {
		log.Info("waits for the hub's first documents; until then it answers no DHCP, serves no file and powers nothing", "broker", c.Broker)
	}
	c.Next = func() ([]string, *tls.Config) {
		id, at := keep.dial()
		next, err := l.config(id)
		if err != nil {
			log.Error("the link's settings cannot be read; the ones before are used", "err", err)
			return nil, nil
		}
		next.TLS.Time = at
		if l.Broker != "" {
			return []string{l.Broker}, next.TLS
		}
		return id.brokers(), next.TLS
	}
	var out *link.Link
	c.OnConnect, c.OnMessage = func(context.Context) { keep.dialled(); a.Connected(transport{out}) }, a.Receive
	c.MinBackoff, c.MaxBackoff, c.Logger, c.Registerer = maxBackoff/5, maxBackoff, log, reg
	out, err = link.New(c)
	return out, err
}
