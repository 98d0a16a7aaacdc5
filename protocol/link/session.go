package link

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// errRefused says that the broker did not grant a topic filter with the QoS that
// was asked for.
var errRefused = errors.New("subscription refused")

// errNoAck says that the broker takes publishes and does not acknowledge them.
var errNoAck = errors.New("no PUBACK from the broker in time")

// session is one connection with its own paho client, which is never used again.
type session struct {
	client mqtt.Client
	slots  chan struct{}  // the publish window
	out    chan *outgoing // to the writer
	lost   chan struct{}  // closed with the connection
	once   sync.Once
	cause  error // valid once lost is closed

	mu   sync.Mutex
	conn io.Closer
}

func (s *session) end(err error) {
	s.once.Do(func() {
		s.cause = err
		close(s.lost)
	})
}

func (s *session) closeConn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// connect makes a session whose topic filters are all granted.
func (l *Link) connect(ctx context.Context, to target) (*session, error) {
	s := &session{slots: make(chan struct{}, window), out: make(chan *outgoing, window), lost: make(chan struct{})}
	o := mqtt.NewClientOptions().
		AddBroker("tcp://" + to.at.address).
		SetProtocolVersion(4). // else paho tries 3.1 after any refusal
		SetClientID(clientID()).
		SetCleanSession(true).
		SetAutoReconnect(false).
		SetConnectRetry(false).
		SetResumeSubs(false).
		SetOrderMatters(true).
		SetStore(mqtt.NewMemoryStore()).
		SetKeepAlive(keepAlive).
		SetPingTimeout(pingTimeout).
		SetConnectTimeout(connectTimeout).
		SetWriteTimeout(writeTimeout).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) { l.arrived(m.Topic(), m.Payload()) }).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.end(err) }).
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
			c, err := l.dial(ctx, to)
			if err == nil {
				s.mu.Lock()
				s.conn = c
				s.mu.Unlock()
			}
			return c, err
		})
	s.client = mqtt.NewClient(o)
	stop := context.AfterFunc(ctx, s.closeConn) // a shutdown does not wait for CONNACK
	err := s.wait(ctx, s.client.Connect())
	if err == nil {
		err = s.subscribe(ctx, l.cfg.Subscribe, l.cfg.QoS)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// subscribe checks each grant: paho does not count 0x80 as an error, nor a lower
// QoS than was asked for (MQTT 3.1.1 §3.9.3).
func (s *session) subscribe(ctx context.Context, filters []string, qos byte) error {
	if len(filters) == 0 {
		return nil
	}
	want := map[string]byte{}
	for _, f := range filters {
		want[f] = qos
	}
	token := s.client.SubscribeMultiple(want, nil)
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := s.wait(ctx, token); err != nil {
		return err
	}
	var refused []string
	granted := token.(*mqtt.SubscribeToken).Result()
	for _, f := range filters {
		switch code, ok := granted[f]; {
		case !ok || code > 2:
			refused = append(refused, f)
		case code != qos:
			refused = append(refused, fmt.Sprintf("%s granted with QoS %d instead of %d", f, code, qos))
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%w: %s", errRefused, strings.Join(refused, ", "))
	}
	return nil
}

func (s *session) wait(ctx context.Context, token mqtt.Token) error {
	select {
	case <-token.Done():
		return token.Error()
	case <-s.lost:
		return s.cause
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends the connection and frees what waits for it.
func (s *session) close() {
	s.client.Disconnect(uint(quiesce / time.Millisecond))
	s.closeConn()
	s.end(net.ErrClosed)
}

// clientID is random because the certificate says who this is, and because two
// connections of one id would throw each other out. 22 characters of letters
// and digits are accepted by every broker (MQTT 3.1.1 §3.1.3.1).
func clientID() string { return "rb" + rand.Text()[:20] }
