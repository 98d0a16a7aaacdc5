package listeners

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What may pass for a connection that says nothing that is whole, and between two
// requests.
const (
	patience = 10 * time.Second
	idle     = 2 * time.Minute
)

// TestSlowClients: whoever says nothing, or slowly, or asks and then only stays, loses
// the connection. DHCP and TFTP have none; the hub's broker is tested in hub/broker.
func TestSlowClients(t *testing.T) {
	get := "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, l := range all {
		for _, row := range []struct {
			name  string
			speak func(net.Conn)
			most  time.Duration
		}{
			{"says nothing", func(net.Conn) {}, patience},
			{"a byte of a handshake or header each second", func(c net.Conn) {
				if l.tls {
					dribble(c, "\x16\x03\x01\x02\x00\x01"+strings.Repeat("\x00", 200))
				} else {
					dribble(c, "GET / HTTP/1.1\r\n"+strings.Repeat("X: y\r\n", 60))
				}
			}, patience},
			{"a byte of a header each second, after the handshake", l.secure(func(c net.Conn) {
				dribble(c, "GET / HTTP/1.1\r\n"+strings.Repeat("X: y\r\n", 60))
			}), 2 * patience},
			{"a body that does not come", l.secure(func(c net.Conn) {
				_, _ = io.WriteString(c, "POST "+l.post+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
				drain(c)
			}), 3 * patience},
			{"asks and stays", l.secure(func(c net.Conn) { _, _ = io.WriteString(c, get); drain(c) }), idle},
			{"asks and does not read", l.secure(func(c net.Conn) {
				for range 10_000 { // until the server takes no more
					if _, err := io.WriteString(c, get); err != nil {
						return
					}
				}
			}), idle + time.Minute},
		} {
			t.Run(l.name+"/"+row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					on := l.serve(t)
					c := dial(t, on)
					begun := time.Now()
					var speaker sync.WaitGroup
					speaker.Go(func() { row.speak(c) })
					defer func() {
						_ = c.Close() // ends who still speaks
						speaker.Wait()
					}()
					for time.Since(begun) <= row.most+time.Second {
						time.Sleep(100 * time.Millisecond)
						if on.open.Load() == 0 {
							return
						}
					}
					t.Errorf("the connection is open after %s", time.Since(begun))
				})
			})
		}
	}
}

// TestManyClients: so many connections and no more, and place for others once they are
// gone.
func TestManyClients(t *testing.T) {
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := l.serve(t)
				for n := range l.most {
					if n%100 == 0 {
						synctest.Wait() // memnet's queue is short
					}
					dial(t, on)
				}
				synctest.Wait()
				if answered(t, on, time.Second) {
					t.Errorf("connection %d is served", l.most+1)
				}
				time.Sleep(patience)
				synctest.Wait() // connections may end at this very instant
				if !answered(t, on, time.Second) {
					t.Error("nobody is served after they have gone")
				}
			})
		})
	}
}

// answered says whether a request gets any answer; a server of TLS answers one without
// too.
func answered(t *testing.T, on *watched, within time.Duration) bool {
	t.Helper()
	c := dial(t, on)
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // it may be closed
	_ = c.SetReadDeadline(time.Now().Add(within))
	n, _ := c.Read(make([]byte, 1)) // or the end, of the connection or the time
	return n > 0
}

func dial(t *testing.T, on *watched) net.Conn {
	t.Helper()
	c, err := on.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// secure speaks within TLS where the listener does.
func (l listener) secure(speak func(net.Conn)) func(net.Conn) {
	if !l.tls {
		return speak
	}
	return func(c net.Conn) {
		speak(tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}))
	}
}

// dribble writes a byte each second, until the other end has closed.
func dribble(c net.Conn, text string) {
	for i := range len(text) {
		if _, err := c.Write([]byte(text[i : i+1])); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
