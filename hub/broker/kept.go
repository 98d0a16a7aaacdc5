package broker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
)

// sessionRecord is the part of the server's record of an MQTT session that is read here
// (mqtt.go of nats-server v2.15.2, mqttPersistedSession). The server writes it before it
// answers CONNECT.
type sessionRecord struct {
	ID    string `json:"id"` // MQTT client id
	Clean bool   `json:"clean"`
}

// kept refuses sessions that a client wants kept (CONNECT without clean session, MQTT 3.1.1
// §3.1.2.4). The server has no setting against them and shows the flag to no hook, so that
// they are found by the record that it writes: the connection ends, the record goes, and
// whoever asked is barred for keptPause. What is left is some 2 KiB of the server's memory.
type kept struct {
	server  *server.Server
	log     *slog.Logger
	barred  *barred
	refused prometheus.Counter
	stream  jetstream.Stream
}

// watchKept follows the records until conn is closed.
func watchKept(ctx context.Context, conn *nats.Conn, k kept) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if k.stream, err = js.Stream(ctx, sessionStream); err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, sessionStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	_, err = consumer.Consume(k.see)
	return err
}

// see looks at one record, one at a time.
func (k kept) see(m jetstream.Msg) {
	var r sessionRecord
	meta, err := m.Metadata()
	if err = errors.Join(err, json.Unmarshal(m.Data(), &r)); err != nil || r.Clean {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	// One that has gone by itself is among them, so that nobody is nameless by being quick.
	list, err := k.server.Connz(&server.ConnzOptions{Username: true, MQTTClient: r.ID, State: server.ConnAll, Limit: k.server.NumClients() + maxClosed})
	if err != nil {
		k.log.Error("cannot list connections", "err", err)
		return
	}
	k.refused.Inc()
	for _, c := range list.Conns {
		k.barred.add(c.AuthorizedUser, c.IP)
		_ = k.server.DisconnectClientByID(c.Cid) // or it has gone
		k.log.Warn("MQTT session refused", "agent", c.AuthorizedUser, "from", c.IP, "reason", "clean session is 0",
			"hint", "connect with a clean session; nothing is kept for a client that is away")
	}
	if err := k.stream.DeleteMsg(ctx, meta.Sequence.Stream); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		k.log.Debug("the record of a refused session stays until the broker ends", "err", err)
	}
}

// maxClosed is how many closed connections the server remembers
// (DEFAULT_MAX_CLOSED_CLIENTS).
const maxClosed = 10_000

// barred are the names, each at one address, that are not let in for keptPause. Another
// address of the same name is: a certificate that was copied must not lock out the agent
// that it was copied from. It is safe for concurrent use.
type barred struct {
	mu    sync.Mutex
	until map[visitor]time.Time
}

type visitor struct{ name, host string }

// maxBarred bounds them; above it the oldest are forgotten first.
const maxBarred = 4096

func (b *barred) add(name, host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if len(b.until) >= maxBarred {
		var oldest visitor
		for v, until := range b.until {
			if first, ok := b.until[oldest]; !ok || until.Before(first) {
				oldest = v
			}
		}
		delete(b.until, oldest)
	}
	b.until[visitor{name, host}] = now.Add(keptPause)
}

func (b *barred) is(name, host string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := visitor{name, host}
	until, ok := b.until[v]
	if ok && !time.Now().Before(until) {
		delete(b.until, v)
		return false
	}
	return ok
}

// host is the address without its port, as the server's list of connections has it.
func host(a net.Addr) string {
	if a == nil {
		return ""
	}
	h, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return h
}
