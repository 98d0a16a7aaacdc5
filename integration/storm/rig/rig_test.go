package rig

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A wire that is cut carries nothing, and nothing of before is lost while it stays cut.
func TestWire(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }() // until either end closes
		}
	}()
	w, err := newWire("127.0.0.1:0", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", w.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c)
	}
	say := func(c net.Conn, r *bufio.Reader, within time.Duration) error {
		_ = c.SetDeadline(time.Now().Add(within)) // a connection has deadlines
		if _, err := c.Write([]byte("x\n")); err != nil {
			return err
		}
		_, err := r.ReadString('\n')
		return err
	}
	c, r := dial()
	if err := say(c, r, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	w.Cut()
	for _, p := range []struct {
		name string
		c    net.Conn
		r    *bufio.Reader
	}{{"of before", c, r}, {"new", nil, nil}} {
		if p.c == nil {
			p.c, p.r = dial()
		}
		if err := say(p.c, p.r, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("over a cut wire, connection %s: %v", p.name, err)
		}
	}
	w.Mend()
	c, r = dial()
	if err := say(c, r, 5*time.Second); err != nil {
		t.Errorf("over a mended wire: %v", err)
	}
}

// Each spoil does what it says, to reads or to orders.
func TestFront(t *testing.T) {
	var mu sync.Mutex
	var orders []string
	bmc := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of this test
		if r.Method == http.MethodPost {
			mu.Lock()
			orders = append(orders, string(body))
			mu.Unlock()
			return
		}
		_, _ = w.Write([]byte(strings.Repeat("a", 100)))
	}))
	defer bmc.Close()
	cert, _, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFront("127.0.0.1:0", bmc.Listener.Addr().String(), cert)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, Timeout: time.Minute}
	base := "https://" + f.listener.Addr().String()
	// What is not answered is given up: a read that hangs once half of it came, an order that comes late
	// once it was taken, and what is cut at some time.
	ask := func(ctx context.Context, method, uri, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, base+uri, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(req)
	}
	read := func(s Spoil) (status, n int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if s == SpoilCut {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		resp, err := ask(ctx, http.MethodGet, "/redfish/v1/Systems/1", "")
		if err != nil {
			return 0, 0, err
		}
		defer resp.Body.Close()
		if s == SpoilHang {
			half := make([]byte, 50)
			if n, err := io.ReadFull(resp.Body, half); err != nil {
				return resp.StatusCode, n, err
			}
			time.AfterFunc(100*time.Millisecond, cancel)
			rest, err := io.ReadAll(resp.Body)
			return resp.StatusCode, len(half) + len(rest), err
		}
		body, err := io.ReadAll(resp.Body)
		return resp.StatusCode, len(body), err
	}
	order := func(kind string, s Spoil) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		switch {
		case s == SpoilCut:
			time.AfterFunc(100*time.Millisecond, cancel)
		case s == SpoilLate && kind == "On":
			go func() {
				for ctx.Err() == nil && f.Late() == 0 {
					time.Sleep(time.Millisecond) // until it was taken
				}
				cancel()
			}()
		}
		resp, err := ask(ctx, http.MethodPost, "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", `{"ResetType":"`+kind+`"}`)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	for _, c := range []struct {
		spoil      Spoil
		status, n  int
		fails      bool
		orderFails bool
	}{
		{SpoilNone, 200, 100, false, false},
		{SpoilError, 500, -1, false, false},
		{SpoilShort, 200, 50, true, false},
		{SpoilHang, 200, 50, true, false},
		{SpoilCut, 0, 0, true, true},
		{SpoilLate, 200, 100, false, true},
		{SpoilNone, 200, 100, false, false},
	} {
		f.Set(c.spoil, 150*time.Millisecond)
		status, n, err := read(c.spoil)
		if status != c.status || c.n >= 0 && n != c.n || (err != nil) != c.fails {
			t.Errorf("%q: a read gave %d with %d bytes, %v", c.spoil, status, n, err)
		}
		if err := order("ForceOff", c.spoil); (err != nil) != (c.spoil == SpoilCut) {
			t.Errorf("%q: ForceOff: %v", c.spoil, err)
		}
		mu.Lock()
		orders = nil
		mu.Unlock()
		if err := order("On", c.spoil); (err != nil) != c.orderFails {
			t.Errorf("%q: On: %v", c.spoil, err)
		}
	}
	f.orders.Wait()
	mu.Lock()
	defer mu.Unlock()
	if f.Late() != 1 || len(orders) == 0 || !strings.Contains(orders[len(orders)-1], "On") {
		t.Errorf("%d late, orders %v", f.Late(), orders)
	}
}

// Flips change as many bytes as they say, of those that are not zero, and a copy brings the
// folder back.
func TestFlipAndPutBack(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(data, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	whole := append(bytes.Repeat([]byte{7}, 1000), make([]byte, 100_000)...)
	path := filepath.Join(data, "state", "a")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Keep(data); err != nil {
		t.Fatal(err)
	}
	where, err := Flip(data, rand.New(rand.NewPCG(1, 1)), 5)
	if err != nil || len(where) != 5 {
		t.Fatal(where, err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i := range got {
		if got[i] != whole[i] {
			changed++
		}
	}
	if changed == 0 || changed > 5 || !bytes.Equal(got[1000:], whole[1000:]) {
		t.Errorf("%d bytes were changed", changed)
	}
	if err := PutBack(data); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("it is not as it was: %v", err)
	}
	if _, err := Flip(t.TempDir(), rand.New(rand.NewPCG(1, 1)), 1); err == nil {
		t.Error("a byte of nothing was changed")
	}
}
