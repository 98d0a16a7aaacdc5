package link

import (
	"context"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"rackboot/protocol"
)

// outgoing is one message on its way to paho.
type outgoing struct {
	topic   string
	payload []byte
	token   chan mqtt.Token // holds paho's token once it has the message
	sent    mqtt.Token      // that token, once it was taken
	begun   time.Time
}

// Publish sends one message that is not retained. It returns when the message
// was written (QoS 0) or acknowledged by the broker (QoS 1), neither of which
// means that anybody received it. It never waits past ctx, and keeps payload
// until the connection has it: do not change it. A connection on which a publish
// is not acknowledged within 30 s is ended.
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
	if err := l.slot(ctx, s); err != nil {
		return err
	}
	o := &outgoing{topic: topic, payload: payload, token: make(chan mqtt.Token, 1), begun: time.Now()}
	s.out <- o // has room for the whole window
	done, err := s.finish(ctx, o)
	if !done { // nobody waits for it any more, but for its slot
		go func() { _, _ = s.finish(context.Background(), o) }()
	}
	return err
}

// slot waits for room in the window.
func (l *Link) slot(ctx context.Context, s *session) error {
	begun := time.Now()
	l.metrics.waiting.Inc()
	defer l.metrics.waiting.Dec()
	select {
	case s.slots <- struct{}{}:
		l.metrics.waited.Observe(time.Since(begun).Seconds())
		return nil
	case <-s.lost:
		return mqtt.ErrNotConnected
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish waits for the end of a publish and gives its slot back; done is false if
// ctx ends first. A lost connection needs no slots.
func (s *session) finish(ctx context.Context, o *outgoing) (done bool, err error) {
	late := time.NewTimer(time.Until(o.begun.Add(ackTimeout)))
	defer late.Stop()
	if o.sent == nil {
		select {
		case o.sent = <-o.token:
		case <-s.lost:
			return true, mqtt.ErrNotConnected
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	select {
	case <-o.sent.Done():
		<-s.slots
		return true, o.sent.Error()
	case <-s.lost:
		return true, mqtt.ErrNotConnected
	case <-ctx.Done():
		return false, ctx.Err()
	case <-late.C:
		s.end(errNoAck)
		return true, errNoAck
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
