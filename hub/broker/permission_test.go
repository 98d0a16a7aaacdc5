package broker

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestOwnTopicsWork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub, agent := s.hub(t), s.agent(t, "rack-1")
	for _, qos := range []byte{0, 1, 2} {
		granted, up := subscribe(t, hub, "rb/v1/a/+/u/#", qos)
		if !granted {
			t.Fatal("hub may not subscribe")
		}
		granted, down := subscribe(t, agent, "rb/v1/a/rack-1/d/#", qos)
		if !granted {
			t.Fatal("agent may not subscribe")
		}
		granted, announce := subscribe(t, agent, "rb/v1/h/#", qos)
		if !granted {
			t.Fatal("agent may not subscribe to announcements")
		}
		await(t, agent.Publish("rb/v1/a/rack-1/u/hello", qos, false, "1"))
		receive(t, up, "rb/v1/a/rack-1/u/hello=1")
		await(t, hub.Publish("rb/v1/a/rack-1/d/rack/0", qos, false, "2"))
		receive(t, down, "rb/v1/a/rack-1/d/rack/0=2")
		await(t, hub.Publish("rb/v1/h/announce", qos, false, "3"))
		receive(t, announce, "rb/v1/h/announce=3")
	}
}

// Subscriptions outside of the own tree are refused in the SUBACK.
func TestForbiddenSubscriptions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, row := range []struct {
		who     string
		filters []string
	}{
		{"rack-1", []string{
			"#", "+/#", "rb/#", "rb/v1/a/#", "rb/v1/a/+/d/#", "rb/v1/+/rack-1/d/#", "rb/v1/a/rack-2/d/#", "rb/v1/a/rack-1/#",
			"rb/v1/a/rack-1/u/#", "rb/v1/a/rack-1/+/hold", "rb/v1/a/rack-2/u/report", "rb/v1/a/rack-1", "rb/v1/a/rack-10/d/#",
			"$JS/#", "$JS/API/#", "$SYS/#", "$MQTT/#", "$MQTT/msgs/#", "$MQTT.msgs.>", "$KV/#", "_INBOX/#", "/rb/v1/a/rack-1/d/#",
			// CVE-2026-33217, CVE-2026-58214: ACL bypass by $MQTT filters.
			"$MQTT/sub/x", "$MQTT/deliver/pubrel/x",
		}},
		{"", []string{"#", "rb/#", "rb/v1/a/#", "rb/v1/a/+/d/#", "$JS/#", "$MQTT/#"}},
	} {
		c := s.hub
		if row.who != "" {
			c = func(t testing.TB) client { return s.agent(t, row.who) }
		}
		cl := c(t)
		for _, f := range row.filters {
			for _, qos := range []byte{0, 1, 2} {
				if !cl.IsConnectionOpen() {
					cl = c(t)
				}
				token := cl.Subscribe(f, qos, nil)
				token.WaitTimeout(patience)
				if token.Error() == nil && granted(token, f) {
					t.Errorf("%q may subscribe to %s with QoS %d", row.who, f, qos)
				}
			}
		}
	}
}

// Publishes outside of the own tree reach nobody, not even one with all rights;
// the last row shows that the watcher would have seen them.
func TestForbiddenPublishes(t *testing.T) {
	t.Parallel()
	refused := make(violations, 64)
	s := newSiteWith(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(refused, nil)) })
	nc, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan *nats.Msg, 1024)
	if _, err := nc.ChanSubscribe("rb.>", seen); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.ChanSubscribe("$KV.>", seen); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{
		"rb/v1/a/rack-2/u/report", "rb/v1/a/rack-1/d/hold", "rb/v1/a/rack-2/d/hold", "rb/v1/h/announce", "rb/v1/a/rack-1",
		"rb/v1/a/rack-1/u", "$KV/hub/claims", "rb//v1", "rb/v1/a/rack-1/u.d/hold",
	} {
		for _, qos := range []byte{0, 1, 2} {
			for _, retain := range []bool{false, true} {
				c := s.agent(t, "rack-1") // a refused publish may end the connection
				c.Publish(topic, qos, retain, "forged")
				wait(t, refused, fmt.Sprintf("refusal of %s with QoS %d, retain %t", topic, qos, retain))
				c.Disconnect(50)
			}
		}
	}
	await(t, s.agent(t, "rack-1").Publish("rb/v1/a/rack-1/u/end", 0, false, ""))
	for {
		select {
		case m := <-seen:
			if m.Subject == "rb.v1.a.rack-1.u.end" {
				return
			}
			t.Errorf("%s arrived", m.Subject)
		case <-time.After(patience):
			t.Fatal("the permitted publish did not arrive")
		}
	}
}

// Other brokers publish a will without asking for rights.
func TestWills(t *testing.T) {
	t.Parallel()
	refused := make(violations, 16)
	s := newSiteWith(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(refused, nil)) })
	nc, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("rb.>", seen); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	topics := []string{"rb/v1/a/rack-2/d/hold", "rb/v1/h/announce", "rb/v1/a/rack-1/u/will"}
	for _, topic := range topics {
		for _, retain := range []bool{true, false} {
			s.dieWithWill(t, "rack-1", topic, retain)
		}
	}
	// A connection is gone from the server before its will is dealt with.
	published := 0
	for range 2 * len(topics) {
		select {
		case m := <-seen:
			if published++; m.Subject != "rb.v1.a.rack-1.u.will" {
				t.Errorf("will %s was published", m.Subject)
			}
		case line := <-refused:
			if strings.Contains(line, "rb.v1.a.rack-1.u.will") {
				t.Errorf("a permitted will was refused: %s", line)
			}
		case <-time.After(patience):
			t.Fatal("not every will was dealt with")
		}
	}
	if published != 2 {
		t.Errorf("%d wills were published, not the 2 permitted ones", published)
	}
}

// violations takes a log and keeps the lines of publishes that were refused.
type violations chan string

func (v violations) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Publish Violation")) {
		v <- string(line)
	}
	return len(line), nil
}

func TestNothingIsRetained(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub := s.hub(t)
	_, up := subscribe(t, hub, "rb/v1/a/+/u/#", 0)
	agent := s.agent(t, "rack-1")
	await(t, agent.Publish("rb/v1/a/rack-1/u/kept", 0, true, "x"))
	receive(t, up, "rb/v1/a/rack-1/u/kept=x")
	_, late := subscribe(t, s.hub(t), "rb/v1/a/+/u/#", 0)
	await(t, agent.Publish("rb/v1/a/rack-1/u/end", 0, false, ""))
	receive(t, late, "rb/v1/a/rack-1/u/end=")
}
