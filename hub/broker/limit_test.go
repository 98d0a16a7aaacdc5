package broker

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// raw opens a TLS connection as an agent, without a client library.
func (s *site) raw(t *testing.T, id string) *tls.Conn {
	t.Helper()
	config := agentTLS(t, s.keys, id)
	config.ServerName = "127.0.0.1"
	conn, err := tls.Dial("tcp", s.broker.Addr(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// connect is CONNECT of MQTT 3.1.1 with a clean session and a client id of one byte
// (§3.1); subscribe is SUBSCRIBE with QoS 0 (§3.8).
func connect(id byte) []byte {
	return []byte{0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 30, 0, 1, id}
}

func subscribePacket(filter string) []byte {
	return append(append([]byte{0x82, byte(5 + len(filter)), 0, 1, 0, byte(len(filter))}, filter...), 0)
}

// closed waits for the broker to close the connection and returns what it said.
func closed(t *testing.T, conn net.Conn) []byte {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	said, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection stays open")
	}
	return said
}

// serves wants the broker to be as before: an agent can connect and talk.
func (s *site) serves(t *testing.T) {
	t.Helper()
	hub, agent := s.hub(t), s.agent(t, "rack-9")
	_, up := subscribe(t, hub, "rb/v1/a/rack-9/u/#", 0)
	await(t, agent.Publish("rb/v1/a/rack-9/u/alive", 0, false, "1"))
	receive(t, up, "rb/v1/a/rack-9/u/alive=1")
}

// What comes before CONNECT is bounded and ends the connection (CVE-2026-58210: memory
// before authentication).
func TestBytesBeforeConnect(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.endsBeforeConnect(t, map[string][]byte{
		"a PUBLISH":              {0x30, 5, 0, 1, 't', 'x', 'y'},
		"a SUBSCRIBE":            subscribePacket("#"),
		"an HTTP request":        []byte("GET / HTTP/1.1\r\n\r\n"),
		"a CONNECT of 256 MiB":   {0x10, 0xff, 0xff, 0xff, 0x7f},
		"a length of five bytes": {0x10, 0x80, 0x80, 0x80, 0x80, 0x01},
		"MQTT 5":                 {0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 30, 0, 0, 1, 'x'},
		"noise":                  bytes.Repeat([]byte{0xff, 0x00, 0x5a}, 4096),
	})
	s.serves(t)
}

// Who says nothing, or not all, is waited for no longer than for anybody. Nobody else
// connects here: on a busy machine a CONNECT comes later than this broker waits.
func TestSilenceBeforeConnect(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, func(c *Config) { c.limits.auth = 100 * time.Millisecond })
	s.endsBeforeConnect(t, map[string][]byte{"nothing": nil, "half of a CONNECT": connect('x')[:5]})
}

// endsBeforeConnect wants each to end its connection.
func (s *site) endsBeforeConnect(t *testing.T, rows map[string][]byte) {
	t.Run("rows", func(t *testing.T) {
		for name, data := range rows {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conn := s.raw(t, "rack-1")
				_, _ = conn.Write(data) // the broker may close it while it is being written
				if said := closed(t, conn); bytes.HasPrefix(said, []byte{0x20, 2, 0, 0}) {
					t.Error("accepted")
				}
			})
		}
	})
}

// A second CONNECT, and packets that only a server sends, end the connection
// (MQTT 3.1.1 §3.1).
func TestPacketsOutOfPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, data := range map[string][]byte{"a second CONNECT": connect('x'), "a CONNACK": {0x20, 2, 0, 0}, "a SUBACK": {0x90, 3, 0, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			conn := s.raw(t, "rack-1")
			_, _ = conn.Write(append(connect('x'), data...)) // see above
			closed(t, conn)
		})
	}
	s.serves(t)
}

func TestPacketTooLarge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, up := subscribe(t, s.hub(t), "rb/v1/a/+/u/#", 0)
	agent := s.agent(t, "rack-1")
	await(t, agent.Publish("rb/v1/a/rack-1/u/largest", 0, false, make([]byte, 200<<10)))
	if got := <-up; len(got) < 200<<10 {
		t.Errorf("%d bytes arrived", len(got))
	}
	conn := s.raw(t, "rack-1")
	header := []byte{0x30, 0x80, 0x80, 0x40} // 1 MiB
	topic := "rb/v1/a/rack-1/u/large"
	packet := append(append(connect('x'), header...), 0, byte(len(topic)))
	packet = append(append(packet, topic...), make([]byte, 1<<20-2-len(topic))...)
	_, _ = conn.Write(packet) // the broker closes it while it is being written
	closed(t, conn)
	await(t, agent.Publish("rb/v1/a/rack-1/u/next", 0, false, "1"))
	receive(t, up, "rb/v1/a/rack-1/u/next=1")
}

func TestTooManySubscriptions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	conn := s.raw(t, "rack-1")
	packets := connect('x')
	for i := range 2 * maxSubscriptions {
		packets = append(packets, subscribePacket(fmt.Sprintf("rb/v1/a/rack-1/d/%d", i))...)
	}
	_, _ = conn.Write(packets) // the broker may close it while it is being written
	// It closes the connection, or it refuses what is too many with 0x80.
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	said, granted := make([]byte, 0), 0
	for reply := make([]byte, 4096); len(said) < 4+5*2*maxSubscriptions; {
		n, err := conn.Read(reply)
		said = append(said, reply[:n]...)
		if err != nil {
			break
		}
	}
	for i := 4; i+5 <= len(said); i += 5 { // after CONNACK, SUBACKs of 5 bytes
		if said[i+4] == 0 {
			granted++
		}
	}
	if granted == 0 || granted > maxSubscriptions {
		t.Errorf("%d subscriptions were granted, the limit is %d", granted, maxSubscriptions)
	}
	s.serves(t)
}

// A peer that does not read is closed when too much waits for it, or for too long, and
// costs the others nothing.
func TestConnectionThatDoesNotRead(t *testing.T) {
	t.Parallel()
	t.Run("too much", func(t *testing.T) {
		s := newSiteWith(t, func(c *Config) { c.limits.pending = 1 << 20 })
		s.floods(t, 1<<30)
		s.serves(t)
	})
	t.Run("too long", func(t *testing.T) {
		s := newSiteWith(t, func(c *Config) { c.limits.write = time.Second })
		s.floods(t, maxPending/2) // more than two sockets hold
	})
}

// floods sends up to so many bytes to an agent that does not read, until it is closed.
func (s *site) floods(t *testing.T, most int) {
	t.Helper()
	conn := s.raw(t, "rack-1")
	if _, err := conn.Write(append(connect('x'), subscribePacket("rb/v1/a/rack-1/d/#")...)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK and SUBACK
		t.Fatal(err)
	}
	hub, payload := s.hub(t), make([]byte, 128<<10)
	for deadline := time.Now().Add(patience); s.broker.server.Load().NumSlowConsumers() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the connection stays open")
		}
		if most -= len(payload); most < 0 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		await(t, hub.Publish("rb/v1/a/rack-1/d/hold", 0, false, payload))
	}
}

// Connections without a certificate end in the TLS handshake and leave nothing.
func TestFloodWithoutCertificate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.broker.server.Load().NumClients()
	config := s.keys.ClientTLS()
	config.GetClientCertificate, config.ServerName = nil, "127.0.0.1"
	const flood, at = 150, 30
	done := make(chan error, at)
	for range at {
		go func() {
			for range flood / at {
				conn, err := tls.Dial("tcp", s.broker.Addr(), config)
				if err != nil {
					continue // refused already
				}
				_, _ = conn.Write(connect('x')) // with TLS 1.3 the refusal comes after the client's part
				_ = conn.SetReadDeadline(time.Now().Add(patience))
				if said, _ := io.ReadAll(conn); len(said) > 0 {
					done <- fmt.Errorf("the broker said % x", said)
					return
				}
				_ = conn.Close()
			}
			done <- nil
		}()
	}
	s.serves(t)
	for range at {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(patience); s.broker.server.Load().NumClients() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left, %d before", s.broker.server.Load().NumClients(), before)
		}
	}
}
