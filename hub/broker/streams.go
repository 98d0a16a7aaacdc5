package broker

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// mqttPrefix begins the names of the streams in which the server keeps MQTT
// state (mqtt.go of nats-server v2.15.2, constants mqtt…StreamName).
const mqttPrefix = "$MQTT_"

// sessionStream has one message for each session.
const sessionStream = mqttPrefix + "sess"

// maxMemory bounds all of the streams below, in bytes, with room to spare.
const maxMemory = 256 << 20

// mqttStreams are what the server would make by itself, on disk and without
// bounds, at the first connection. Made before that, they are used as they are:
// a connection then costs no disk sync, and no agent can fill the hub's disk.
func mqttStreams() []jetstream.StreamConfig {
	memory := func(name, subjects string, bytes int64) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: mqttPrefix + name, Subjects: []string{subjects}, Storage: jetstream.MemoryStorage, Replicas: 1,
			MaxBytes: bytes, MaxConsumers: -1,
		}
	}
	sessions := memory("sess", "$MQTT.sess.>", 64<<20)
	sessions.MaxMsgsPerSubject = 1
	messages := memory("msgs", "$MQTT.msgs.>", 64<<20)
	messages.Retention = jetstream.InterestPolicy
	incoming := memory("qos2in", "$MQTT.qos2.in.>", 4<<20)
	incoming.Discard, incoming.MaxMsgsPerSubject, incoming.DiscardNewPerSubject = jetstream.DiscardNew, 1, true
	outgoing := memory("out", "$MQTT.out.>", 4<<20)
	outgoing.Retention = jetstream.InterestPolicy
	// No message fits: retaining is refused, delivery is not.
	retained := memory("rmsgs", "$MQTT.rmsgs.>", 1<<20)
	retained.MaxMsgsPerSubject, retained.MaxMsgSize = 1, 1
	return []jetstream.StreamConfig{sessions, messages, incoming, outgoing, retained}
}

// resetMQTT removes all MQTT state of an earlier run, and makes the streams for a
// listener.
func resetMQTT(ctx context.Context, nc *nats.Conn, listens bool) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	names := js.StreamNames(ctx)
	var old []string
	for name := range names.Name() {
		if strings.HasPrefix(name, mqttPrefix) {
			old = append(old, name)
		}
	}
	if err := names.Err(); err != nil {
		return err
	}
	for _, name := range old {
		if err := js.DeleteStream(ctx, name); err != nil {
			return err
		}
	}
	if !listens {
		return nil
	}
	for _, c := range mqttStreams() {
		if _, err := js.CreateStream(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
