package httpboot

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// TestKeepAlive: firmware before 2022 loses the GET if the connection closes
// after HEAD (edk2 9920).
func TestKeepAlive(t *testing.T) {
	w := start(t)
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	for _, method := range []string{"HEAD", "GET", "GET"} {
		req, err := http.NewRequest(method, w.base+"/b/"+token+"/"+bootName, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := req.Write(c); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, req)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if want := int64(len(bootBytes())); err != nil || (method == "GET" && n != want) || resp.ContentLength != want || resp.Close {
			t.Errorf("%s: %d bytes, length %d, close %v: %v", method, n, resp.ContentLength, resp.Close, err)
		}
	}
	if idleTimeout < 30*time.Second {
		t.Errorf("idle timeout %s", idleTimeout)
	}
}

func TestConnectionLimit(t *testing.T) {
	w := start(t, func(c *Config) { c.MaxConns = 1 })
	first, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	// A request proves that the only slot is taken.
	if _, err := io.WriteString(first, "HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(first), &http.Request{Method: "HEAD"}); err != nil {
		t.Fatal(err)
	}
	if n := testutil.ToFloat64(w.server.metrics.connections); n != 1 {
		t.Errorf("%v connections", n)
	}
	second := make(chan string, 1)
	go func() {
		resp, err := http.Head(w.base + "/x")
		if err != nil {
			second <- err.Error()
			return
		}
		resp.Body.Close()
		second <- resp.Status
	}()
	for end := time.Now().Add(patience); testutil.ToFloat64(w.server.metrics.limitWaits) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the limit was not met")
		}
	}
	select {
	case <-second:
		t.Fatal("served beyond the limit")
	default:
	}
	first.Close()
	got := <-second
	http.DefaultClient.CloseIdleConnections()
	if got != "404 Not Found" {
		t.Errorf("after the first left: %q", got)
	}
}

func TestWriterReadFrom(t *testing.T) {
	for _, n := range []int64{0, 1, progressChunk - 1, progressChunk, progressChunk + 1, 3 * progressChunk} {
		var w discard
		cw := newWriter(&w)
		lr := &io.LimitedReader{R: zeros{}, N: n}
		got, err := cw.ReadFrom(lr)
		if got != n || err != nil || w.n != n || cw.bytes != n || lr.N != 0 {
			t.Errorf("%d bytes: copied %d, counted %d, written %d, left %d: %v", n, got, cw.bytes, w.n, lr.N, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type discard struct {
	http.ResponseWriter
	n int64
}

func (d *discard) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	return len(p), nil
}

func TestConfig(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	good := Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: &dirFiles{}, Evidence: &memEvidence{}}
	for name, row := range map[string]struct {
		change func(*Config)
		want   protocol.Code
	}{
		"good":               {func(*Config) {}, ""},
		"no files":           {func(c *Config) { c.Files = nil }, protocol.CodeInvalid},
		"no evidence":        {func(c *Config) { c.Evidence = nil }, protocol.CodeInvalid},
		"nowhere":            {func(c *Config) { c.Listen = netip.AddrPort{} }, protocol.CodeInvalid},
		"a negative limit":   {func(c *Config) { c.MaxConns = -1 }, protocol.CodeInvalid},
		"address in use":     {func(c *Config) { c.Listen = netip.MustParseAddrPort(busy.Addr().String()) }, protocol.CodeUnavailable},
		"address not of us ": {func(c *Config) { c.Listen = netip.MustParseAddrPort("192.0.2.1:80") }, protocol.CodeUnavailable},
	} {
		cfg := good
		row.change(&cfg)
		s, err := New(cfg)
		if err == nil {
			s.listeners[0].Close()
		}
		if got := protocol.CodeOf(err); got != row.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, row.want)
		}
	}
}
