package link

import (
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func TestConfig(t *testing.T) {
	for _, row := range []struct {
		name    string
		change  func(*Config)
		address string // empty: refused
	}{
		{"TLS, default port", func(c *Config) { c.Broker = "mqtts://hub.example" }, "hub.example:8883"},
		{"TLS, IPv6 and port", func(c *Config) { c.Broker = "mqtts://[2001:db8::1]:1234" }, "[2001:db8::1]:1234"},
		{"plain on loopback", func(c *Config) { c.Broker = "mqtt://127.0.0.1" }, "127.0.0.1:1883"},
		{"plain on localhost", func(c *Config) { c.Broker = "mqtt://localhost:99" }, "localhost:99"},
		{"plain elsewhere", func(c *Config) { c.Broker = "mqtt://10.0.0.1" }, ""},
		{"no address", func(c *Config) { c.Broker = "" }, ""},
		{"another scheme", func(c *Config) { c.Broker = "ws://127.0.0.1" }, ""},
		{"a path", func(c *Config) { c.Broker = "mqtts://hub.example/x" }, ""},
		{"a password", func(c *Config) { c.Broker = "mqtts://u:secret@hub.example" }, ""},
		{"TLS without configuration", func(c *Config) { c.TLS = nil }, ""},
		{"QoS 2", func(c *Config) { c.QoS = 2 }, ""},
		{"an empty filter", func(c *Config) { c.Subscribe = []string{""} }, ""},
		{"no handler", func(c *Config) { c.OnMessage = nil }, ""},
		{"no logger", func(c *Config) { c.Logger = nil }, ""},
		{"bounds swapped", func(c *Config) { c.MinBackoff, c.MaxBackoff = time.Minute, time.Second }, ""},
		{"a queue smaller than a message", func(c *Config) { c.QueueBytes = 1 }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Config{Broker: "mqtts://hub.example", TLS: &tls.Config{}, OnMessage: func(string, []byte) {}, Logger: slog.New(slog.DiscardHandler)}
			row.change(&c)
			l, err := New(c)
			if row.address == "" {
				if protocol.CodeOf(err) != protocol.CodeInvalid {
					t.Errorf("got %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Error("the error shows the password")
				}
				return
			}
			if err != nil || l.at.address != row.address {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	high := backoff{low: time.Second, high: time.Minute, rand: func() float64 { return 0.999999 }}
	low := backoff{low: time.Second, high: time.Minute, rand: func() float64 { return 0 }}
	for _, most := range []time.Duration{3, 9, 27, 60, 60} {
		if got := high.next().Round(time.Millisecond); got != most*time.Second {
			t.Errorf("longest wait %s, want %s", got, most*time.Second)
		}
		if got := low.next(); got != time.Second {
			t.Errorf("shortest wait %s", got)
		}
	}
	high.lived(9 * time.Second)
	if got := high.next().Round(time.Millisecond); got != time.Minute {
		t.Errorf("a short life made the wait %s", got)
	}
	high.lived(10 * time.Second)
	if got := high.next().Round(time.Millisecond); got != 3*time.Second {
		t.Errorf("a long life left the wait at %s", got)
	}
}
