package broker

import (
	"log/slog"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// Who takes over a client id takes the session and nothing that it may not have: its
// subscriptions are judged by the certificate of who comes. (Other brokers hand the
// queued messages over, facts of mochi-mqtt issue 504.)
func TestTakeOverOfAnothersClientID(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	with := func(agent string) *mqtt.ClientOptions {
		return options(s.broker.Addr(), agentTLS(t, s.keys, agent)).SetClientID("guessed")
	}
	victim := s.client(t, with("rack-1"))
	if ok, _ := subscribe(t, victim, "rb/v1/a/rack-1/d/#", 1); !ok {
		t.Fatal("refused")
	}
	stolen := make(chan string, 16)
	thief := mqtt.NewClient(with("rack-2").SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) { stolen <- m.Topic() }))
	token := thief.Connect()
	if !token.WaitTimeout(patience) {
		t.Fatal("no answer")
	}
	defer thief.Disconnect(50)
	hub := s.hub(t)
	await(t, hub.Publish("rb/v1/a/rack-1/d/hold", 1, false, "secret"))
	await(t, hub.Publish("rb/v1/a/rack-1/d/hold", 0, false, "secret"))
	// A message to the thief itself comes after what it must not get.
	_, own := subscribe(t, thief, "rb/v1/a/rack-2/d/#", 1)
	await(t, hub.Publish("rb/v1/a/rack-2/d/hold", 1, false, "x"))
	receive(t, own, "rb/v1/a/rack-2/d/hold=x")
	select {
	case topic := <-stolen:
		t.Errorf("%s was delivered to rack-2", topic)
	default:
	}
	// The victim comes back under another id, as a link always does.
	if ok, got := subscribe(t, s.agent(t, "rack-1"), "rb/v1/a/rack-1/d/#", 1); ok {
		await(t, hub.Publish("rb/v1/a/rack-1/d/hold", 1, false, "again"))
		receive(t, got, "rb/v1/a/rack-1/d/hold=again")
	}
}

// MQTT's / is NATS' dot: a level with a dot or a space, or an empty one, reaches no
// other tree.
func TestLevelsThatMeanSomethingElse(t *testing.T) {
	t.Parallel()
	refused := make(violations, 64)
	s := newSiteWith(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(refused, nil)) })
	hub := s.hub(t)
	_, seen := subscribe(t, hub, "rb/v1/a/+/u/#", 0)
	for _, topic := range []string{
		"rb/v1/a/rack-1/u.x", "rb.v1.a.rack-2.u.x", "rb/v1/a/rack-1.rack-2/u/x", "rb/v1/a/rack-1 /u/x", "rb/v1/a//u/x", "/rb/v1/a/rack-1/u/x",
		"rb/v1/a/rack-1/u/\x7f", "rb/v1/a/rack-2/u/a b", "rb/v1/a/*/u/x", "rb/v1/a/>/u/x",
	} {
		lost := make(chan error, 1)
		c := s.client(t, options(s.broker.Addr(), agentTLS(t, s.keys, "rack-1")).SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err }))
		c.Publish(topic, 0, false, "forged")
		select {
		case <-refused:
		case <-lost:
		case <-time.After(patience):
			t.Errorf("%q: neither refused nor cut off", topic)
		}
		c.Disconnect(50)
	}
	await(t, s.agent(t, "rack-1").Publish("rb/v1/a/rack-1/u/end", 0, false, ""))
	receive(t, seen, "rb/v1/a/rack-1/u/end=")
}

// An agent that is refused is cut, and does not come back until it is allowed.
func TestCut(t *testing.T) {
	t.Parallel()
	refused := make(chan string, 1) // holds the agent that is refused
	s := newSiteWith(t, func(c *Config) {
		c.Refuse = func(agent string) bool {
			select {
			case name := <-refused:
				refused <- name
				return agent == name
			default:
				return false
			}
		}
	})
	lost := make(chan error, 1)
	agent := s.client(t, options(s.broker.Addr(), agentTLS(t, s.keys, "rack-1")).SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err }))
	other := s.agent(t, "rack-2")
	if n, err := s.broker.Cut("rack-3"); n != 0 || err != nil {
		t.Errorf("an agent that is not connected: %d, %v", n, err)
	}
	if _, err := s.broker.Cut("rackboot.hub"); err == nil {
		t.Error("the hub was cut")
	}
	refused <- "rack-1"
	if n, err := s.broker.Cut("rack-1"); n != 1 || err != nil {
		t.Errorf("cut %d connections, %v", n, err)
	}
	select {
	case <-lost:
	case <-time.After(patience):
		t.Fatal("the connection lives")
	}
	if agent.IsConnectionOpen() || !other.IsConnectionOpen() {
		t.Error("the wrong connection was cut")
	}
	again := mqtt.NewClient(options(s.broker.Addr(), agentTLS(t, s.keys, "rack-1")))
	token := again.Connect()
	if !token.WaitTimeout(patience) || token.Error() == nil {
		t.Error("it was let in again")
	}
	again.Disconnect(50)
	<-refused
	s.agent(t, "rack-1")
}

// Without an address there is a store and no MQTT.
func TestStoreOnly(t *testing.T) {
	s := newSite(t)
	s.agent(t, "rack-1")
	s.broker.Close()
	s.change = func(c *Config) { c.MQTTListen, c.TLS, c.HubIdentity = "", nil, "" }
	s.open()
	if s.broker.Addr() != "" {
		t.Errorf("listens on %s", s.broker.Addr())
	}
	if _, err := bucket(t.Context(), s.broker); err != nil {
		t.Error(err)
	}
}
