package httpboot

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
)

// dialFrom connects from an address of loopback.
func (w *world) dialFrom(t *testing.T, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// ask sends a request on an open connection and returns the answer without its body,
// or nil if the connection was closed instead.
func ask(t *testing.T, c net.Conn, method, path string) *http.Response {
	t.Helper()
	_, _ = io.WriteString(c, method+" "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") // the answer tells
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return nil
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp
}

// TestClientConnections: one client can take no more than its own connections.
func TestClientConnections(t *testing.T) {
	w := start(t, func(c *Config) { c.MaxClientConns = 2 })
	first, second := w.dialFrom(t, "127.0.0.1"), w.dialFrom(t, "127.0.0.1")
	for _, c := range []net.Conn{first, second} {
		if ask(t, c, "HEAD", "/x") == nil {
			t.Fatal("not served within the limit")
		}
	}
	if resp := ask(t, w.dialFrom(t, "127.0.0.1"), "HEAD", "/x"); resp != nil {
		t.Errorf("beyond the limit: %s", resp.Status)
	}
	if n := testutil.ToFloat64(w.server.metrics.refused.WithLabelValues(refusedConnection)); n != 1 {
		t.Errorf("%v refused", n)
	}
	if ask(t, w.dialFrom(t, "127.0.0.2"), "HEAD", "/x") == nil {
		t.Error("another client is not served")
	}
	first.Close()
	for end := time.Now().Add(patience); testutil.ToFloat64(w.server.metrics.connections) > 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connection stays counted")
		}
	}
	if ask(t, w.dialFrom(t, "127.0.0.1"), "HEAD", "/x") == nil {
		t.Error("not served after one has left")
	}
}

// blockingFiles opens nothing before it is let.
type blockingFiles struct {
	*dirFiles
	asked chan struct{}
	let   chan struct{}
}

func (b *blockingFiles) Open(remote netip.Addr, tok, name string) (*netboot.File, error) {
	if name == "slow.efi" {
		b.asked <- struct{}{}
		<-b.let
	}
	return b.dirFiles.Open(remote, tok, name)
}

// TestClientRequests: requests beyond those that a client may have in flight hear so
// at once.
func TestClientRequests(t *testing.T) {
	files := &blockingFiles{asked: make(chan struct{}), let: make(chan struct{})}
	w := start(t, func(c *Config) {
		files.dirFiles = c.Files.(*dirFiles)
		c.Files, c.MaxClientRequests = files, 1
	})
	done := make(chan *http.Response)
	slow := w.dialFrom(t, "127.0.0.1")
	go func() { done <- ask(t, slow, "GET", "/b/"+token+"/slow.efi") }()
	<-files.asked
	c := w.dialFrom(t, "127.0.0.1")
	resp := ask(t, c, "GET", "/b/"+token+"/small.efi")
	if resp == nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || resp.ContentLength <= 0 {
		t.Errorf("beyond the limit: %+v", resp)
	}
	if resp := ask(t, w.dialFrom(t, "127.0.0.2"), "GET", "/b/"+token+"/small.efi"); resp == nil || resp.StatusCode != http.StatusOK {
		t.Errorf("another client: %+v", resp)
	}
	close(files.let)
	<-done
	if resp := ask(t, c, "GET", "/b/"+token+"/small.efi"); resp == nil || resp.StatusCode != http.StatusOK {
		t.Errorf("after the first has ended, on the same connection: %+v", resp)
	}
	if n := testutil.ToFloat64(w.server.metrics.refused.WithLabelValues(refusedRequest)); n != 1 {
		t.Errorf("%v refused", n)
	}
}

// TestSlowClients: a client that dribbles loses its connection, and the slot is free
// again; one that only thinks between two requests keeps it (facts of firmware: HEAD,
// then GET, with up to 30 s between).
func TestSlowClients(t *testing.T) {
	for _, row := range []struct {
		name  string
		tls   bool
		speak func(net.Conn) // before the answer
		least time.Duration  // how long the connection lives
		most  time.Duration
	}{
		{"says nothing", false, func(net.Conn) {}, headerTimeout, headerTimeout},
		{"says nothing to TLS", true, func(net.Conn) {}, headerTimeout, headerTimeout},
		{"a byte of a handshake each second", true, func(c net.Conn) { dribble(c, "\x16\x03\x01\x02\x00\x01"+strings.Repeat("\x00", 60)) }, headerTimeout, headerTimeout},
		{"a byte of a header each second", false, func(c net.Conn) { dribble(c, "GET / HTTP/1.1\r\n"+strings.Repeat("X: y\r\n", 60)) }, headerTimeout, headerTimeout},
		{"idle after a request", false, func(c net.Conn) {
			_, _ = io.WriteString(c, "HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n")
		}, 30 * time.Second, idleTimeout},
		{"the body of a report that does not come", false, func(c net.Conn) {
			_, _ = io.WriteString(c, "POST /b/t/report/booted HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
		}, reportTimeout, reportTimeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			certs := testPKI() // an RSA key, outside of the bubble
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				cfg := Config{Listener: &oneConn{conn: server, closed: make(chan struct{})}, Files: &dirFiles{}, Evidence: &memEvidence{}}
				if row.tls {
					cfg.Certificates = certs
				}
				s, err := New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- s.Run(ctx) }()
				begun := time.Now()
				var speaker sync.WaitGroup
				speaker.Go(func() { row.speak(client) })
				if _, err := io.Copy(io.Discard, client); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took < row.least || took > row.most {
					t.Errorf("the connection lived %s, want %s to %s", took, row.least, row.most)
				}
				synctest.Wait()
				if n := testutil.ToFloat64(s.metrics.connections); n != 0 {
					t.Errorf("%v connections are counted", n)
				}
				client.Close()
				speaker.Wait()
				cancel()
				if err := <-done; err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		})
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

// writeSlow makes the file that blockingFiles holds back.
func writeSlow(dir string) error {
	return os.WriteFile(filepath.Join(dir, "slow.efi"), bootBytes(), 0o600)
}
