package broker

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/link"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// run keeps a link up until the test ends; ups gets a value for each connection.
func run(t *testing.T, addr string, config *tls.Config, filter string, take func(string, []byte)) (l *link.Link, ups <-chan struct{}) {
	t.Helper()
	connected := make(chan struct{}, 16)
	l, err := link.New(link.Config{
		Broker: "mqtts://" + addr, TLS: config, Subscribe: []string{filter}, OnMessage: take,
		OnConnect:  func(context.Context) { connected <- struct{}{} },
		MinBackoff: 10 * time.Millisecond, MaxBackoff: 50 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l, connected
}

func wait[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("no " + what)
		panic("unreachable")
	}
}

// A signed document goes down and its acknowledgement up, before and after the
// hub was restarted.
func TestLinkOverTheBroker(t *testing.T) {
	s := newSiteWith(t, func(c *Config) { c.MQTTListen = ownHost + ":0" })
	addr := s.broker.Addr()
	signer := s.keys.Signer()
	verifier := wire.NewVerifier(signer.Public())
	acks, docs := make(chan string, 1), make(chan error, 1)
	var doc message.HoldDoc

	agent, agentUp := run(t, addr, agentTLS(t, s.keys, "rack-1"), "rb/v1/a/rack-1/d/#", func(topic string, data []byte) {
		docs <- wire.Open(verifier, topic, data, &doc)
	})
	wait(t, agentUp, "connection of the agent")
	hub, hubUp := run(t, addr, s.keys.ClientTLS(), message.TopicAllUp, func(topic string, _ []byte) { acks <- topic })
	wait(t, hubUp, "connection of the hub")

	exchange := func() {
		t.Helper()
		topic := message.TopicDown("rack-1", message.LeafHold)
		data, err := wire.Seal(signer, topic, &message.HoldDoc{Agent: "rack-1", Holds: []resource.ActiveHold{{HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Ref: strings.Repeat("r", 4096)}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := hub.Publish(t.Context(), topic, data); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, docs, "document"); err != nil || doc.Agent != "rack-1" {
			t.Fatalf("%+v, %v", doc, err)
		}
		up := message.TopicUp("rack-1", message.LeafApplied)
		if err := agent.Publish(t.Context(), up, nil); err != nil {
			t.Fatal(err)
		}
		if got := wait(t, acks, "acknowledgement"); got != up {
			t.Fatal(got)
		}
	}
	exchange()
	s.broker.Close()
	config := s.config()
	config.MQTTListen = addr
	b, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	s.broker = b
	wait(t, agentUp, "second connection of the agent")
	wait(t, hubUp, "second connection of the hub")
	exchange()
}
