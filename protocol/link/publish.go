package link

import (
	"context"
	"strings"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"rackboot/protocol"
)

// outgoing is one message on its way to paho.
type outgoing struct {
	topic   string
	payload []byte
	token   chan mqtt.Token // holds paho's token once it has the message
}

// Publish sends one message that is not retained. It returns when the message
// was written (QoS 0) or acknowledged by the broker (QoS 1), neither of which
// means that anybody received it. It never waits past ctx, and keeps payload
// until the connection has it: do not change it.
//
// Errors: unavailable if there is no connection, if it is lost, or if ctx ends
// first (then the message may still be sent); invalid for a bad topic or a
// payload above [MaxPayload].
func (l *Link) Publish(ctx context.Context, topic string, payload []byte) error {
	const op = "link.Publish"
	if topic == "" || strings.ContainsAny(topic, "+#\x00") || len(topic) > 1024 {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a topic to publish to", topic)
	}
	if len(payload) > MaxPayload {
		return protocol.Errorf(protocol.CodeInvalid, op, "payload for %s is %d bytes large, the limit is %d", topic, len(payload), MaxPayload).
			WithHint("split it into smaller shards or batches")
	}
	err := l.publish(ctx, topic, payload)
	if err == nil {
		l.metrics.published.WithLabelValues(resultOK).Inc()
		return nil
	}
	l.metrics.published.WithLabelValues(resultFailed).Inc()
	return protocol.Errorf(protocol.CodeUnavailable, op, "cannot publish to %s: %w", topic, err).
		WithHint("it is sent again when the connection to the broker is back")
}

func (l *Link) publish(ctx context.Context, topic string, payload []byte) error {
	s := l.current.Load()
	if s == nil {
		return mqtt.ErrNotConnected
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.lost:
		return mqtt.ErrNotConnected
	case <-ctx.Done():
		return ctx.Err()
	}
	o := &outgoing{topic: topic, payload: payload, token: make(chan mqtt.Token, 1)}
	s.out <- o // has room for the whole window
	var token mqtt.Token
	select {
	case token = <-o.token:
	case <-s.lost:
		return mqtt.ErrNotConnected
	case <-ctx.Done():
		go s.release(o, nil)
		return ctx.Err()
	}
	select {
	case <-token.Done():
		<-s.slots
		return token.Error()
	case <-s.lost:
		return mqtt.ErrNotConnected
	case <-ctx.Done():
		go s.release(nil, token)
		return ctx.Err()
	}
}

// release gives the slot back when a message that nobody waits for is done. It
// ends with the connection at the latest; a lost one needs no slots.
func (s *session) release(o *outgoing, token mqtt.Token) {
	if o != nil {
		select {
		case token = <-o.token:
		case <-s.lost:
			return
		}
	}
	select {
	case <-token.Done():
		<-s.slots
	case <-s.lost:
	}
}

// write hands messages to paho, which may keep it waiting for a slow peer.
func (s *session) write(qos byte) {
	for {
		select {
		case <-s.lost:
			return
		case o := <-s.out:
			o.token <- s.client.Publish(o.topic, qos, false, o.payload)
		}
	}
}
