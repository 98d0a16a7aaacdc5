package discover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const body = `{"@odata.type":"#ServiceRoot.v1_15_0.ServiceRoot","RedfishVersion":"1.17.0"}`

func refusing(context.Context, netip.Addr) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

// TestAsk: what is made of answers, and that nothing but one plain GET was sent.
func TestAsk(t *testing.T) {
	write := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
	}
	status := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://10.7.0.66/stolen")
			w.Header().Set("WWW-Authenticate", `Basic realm="say it"`)
			w.Header().Set("Set-Cookie", "a=b")
			w.WriteHeader(n)
		}
	}
	without := func(h http.HandlerFunc) http.HandlerFunc { // the path without its slash is known only
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/redfish/v1" {
				write(body)(w, r)
			} else {
				h(w, r)
			}
		}
	}
	const first, both = "/redfish/v1/", "/redfish/v1/ /redfish/v1"
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		want   result
		asked  string
	}{
		{"a service root", write(body), resultRoot, first},
		{"404, and then a service root", without(status(404)), resultRoot, both},
		{"a redirect, and then a service root", without(status(308)), resultRoot, both},
		{"redirects", status(301), resultStatus, both},
		{"401", status(401), resultStatus, first},
		{"503", status(503), resultStatus, first},
		{"a page", write("<html>"), resultOther, first},
		{"the largest", write(body + strings.Repeat(" ", maxBody-len(body))), resultRoot, first},
		{"too large", write(body + strings.Repeat(" ", maxBody-len(body)+1)), resultLarge, first},
		{"without an end", func(w http.ResponseWriter, _ *http.Request) {
			for line := []byte(strings.Repeat("x", 4096)); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}, resultLarge, first},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4096")
			_, _ = io.WriteString(w, body)
		}, resultHTTP, first},
		{"large headers", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 64 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4096))
			}
		}, resultHTTP, first},
		{"hung up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, resultHTTP, first},
	} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, h2 %v", row.name, h2), func(t *testing.T) {
				asked := make(chan string, 9)
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked <- r.URL.Path
					sent, _ := io.ReadAll(r.Body)
					if r.Method != http.MethodGet || r.Host != "10.7.0.9" || len(sent) > 0 {
						t.Errorf("%s of %s: %q", r.Method, r.Host, sent)
					}
					for name := range r.Header {
						if name != "Accept" && name != "User-Agent" && name != "Connection" {
							t.Errorf("header %s", name)
						}
					}
					row.answer(w, r)
				}))
				server.EnableHTTP2 = h2
				server.StartTLS()
				defer server.Close()
				d := &dialled{dial: func(ctx context.Context, _ netip.Addr) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
				}}
				f, err := New(Config{Leases: &memLeases{}, Dial: d.Dial})
				if err != nil {
					t.Fatal(err)
				}
				a, ok := f.ask(t.Context(), segment(), netip.MustParseAddr("10.7.0.9"))
				sum := sha256.Sum256(server.Certificate().Raw)
				if !ok || a.result != row.want || a.fingerprint != "sha256:"+hex.EncodeToString(sum[:]) {
					t.Errorf("%+v, want %s", a, row.want)
				}
				if (a.problem == "") != (row.want == resultRoot) || strings.Contains(a.problem, "stolen") {
					t.Errorf("problem %q", a.problem)
				}
				close(asked)
				var paths []string
				for p := range asked {
					paths = append(paths, p)
				}
				if got := strings.Join(paths, " "); got != row.asked {
					t.Errorf("asked %s, want %s", got, row.asked)
				}
				if n, _ := d.count(); n != 1 {
					t.Errorf("%d addresses were dialled", n)
				}
			})
		}
	}
}

// TestAskOutside: an address that is not of a host in the segment is not dialled.
func TestAskOutside(t *testing.T) {
	d := &dialled{dial: refusing}
	f, err := New(Config{Leases: &memLeases{}, Dial: d.Dial})
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"10.8.0.9", "127.0.0.1", "169.254.169.254", "10.7.0.0", "10.7.0.255", "10.7.0.1", "fe80::1", "::ffff:10.7.0.9"} {
		if a, ok := f.ask(t.Context(), segment(), netip.MustParseAddr(addr)); !ok || a.result != resultOutside {
			t.Errorf("%s: %+v", addr, a)
		}
	}
	if _, dials := d.count(); dials != 0 {
		t.Errorf("%d dials", dials)
	}
}

// TestAskInTime: whoever takes its time gets askFor.
func TestAskInTime(t *testing.T) {
	for _, row := range []struct {
		name string
		dial func(context.Context, netip.Addr) (net.Conn, error)
		want result
		took time.Duration
	}{
		{"nobody", hole, resultTimeout, askFor},
		{"the kernel gives up", func(context.Context, netip.Addr) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}
		}, resultTimeout, 0},
		{"refused", refusing, resultUnreachable, 0},
		{"no route", func(context.Context, netip.Addr) (net.Conn, error) { return nil, errors.New("no route") }, resultUnreachable, 0},
		{"no word of TLS", func(context.Context, netip.Addr) (net.Conn, error) {
			c, s := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, s) }()
			return c, nil
		}, resultTimeout, askFor},
		{"not TLS", func(context.Context, netip.Addr) (net.Conn, error) {
			c, s := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, s) }()
			go func() { _, _ = io.WriteString(s, "SSH-2.0-x\r\n") }()
			return c, nil
		}, resultTLS, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := New(Config{Leases: &memLeases{}, Dial: (&dialled{dial: row.dial}).Dial})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				a, ok := f.ask(t.Context(), segment(), netip.MustParseAddr("10.7.0.9"))
				if took := time.Since(began); !ok || a.result != row.want || took != row.took {
					t.Errorf("%+v after %s", a, took)
				}
			})
		})
	}
}
