package api_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/pki"
	"rackboot/integration/memnet"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// A body that is too long is refused: at most 64 KiB of nobody, and MaxBody of a caller.
func TestLongBodies(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	for _, row := range []struct {
		who, path string
		bytes     int
		status    int
	}{
		{"admin", "/v1/apply", protoapi.MaxBody + 1, http.StatusRequestEntityTooLarge},
		{"admin", "/v1/apply", protoapi.MaxBody, http.StatusBadRequest}, // it is no JSON
		{"viewer", "/v1/apply", protoapi.MaxBody + 1, http.StatusRequestEntityTooLarge},
		{"admin", "/v1/servers/n1/holds", protoapi.MaxBody + 1, http.StatusRequestEntityTooLarge},
		{"", "/v1/join", 64<<10 + 1, http.StatusRequestEntityTooLarge},
		{"", "/v1/join", 64 << 10, http.StatusBadRequest},
		{"", "/v1/apply", protoapi.MaxBody + 1, http.StatusUnauthorized},
	} {
		got := ask(t, a, row.who, http.MethodPost, row.path, strings.Repeat("x", row.bytes))
		if got.status != row.status || got.problem.Hint == "" {
			t.Errorf("%d bytes of %q at %s: %d %s", row.bytes, row.who, row.path, got.status, got.text)
		}
	}
	if n := len(h.Store.Holds.On("n1")); n != 1 {
		t.Errorf("%d holds", n)
	}
}

// slowHub serves an API inside a bubble and gives connections to it.
func slowHub(t *testing.T) (dial func() net.Conn, end func()) {
	t.Helper()
	keys, err := pki.Open(filepath.Join(t.TempDir(), "pki"), []string{"hub.example"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := limited(t, gate.Limits{})
	ln := memnet.Listen("hub")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, ln, keys.ServerTLS()) }()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(keys.CAPEM())
	dial = func() net.Conn {
		t.Helper()
		raw, err := ln.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := tls.Client(raw, &tls.Config{RootCAs: pool, ServerName: "hub.example", MinVersion: tls.VersionTLS13})
		if err := c.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	}
	return dial, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The attacker sends slowly: the headers, the body, or nothing at all. It is cut off in
// time, and meanwhile everybody else is answered.
func TestSlowSenders(t *testing.T) {
	for _, row := range []struct {
		name, sent string
		conns      int
		within     time.Duration
		status     int // 0: the connection is closed
	}{
		{"headers", "POST /v1/join HTTP/1.1\r\nHost: hub\r\n", 3, 10 * time.Second, 0},
		{"the body of a join", "POST /v1/join HTTP/1.1\r\nHost: hub\r\nContent-Length: 100\r\n\r\n{", 3, 10 * time.Second, http.StatusRequestTimeout},
		{"the body of nobody", "POST /v1/apply HTTP/1.1\r\nHost: hub\r\nContent-Length: 100\r\n\r\n{", 3, 0, http.StatusUnauthorized},
		{"the body of a caller", "POST /v1/apply HTTP/1.1\r\nHost: hub\r\nContent-Length: 100\r\nAuthorization: " + bearer + "\r\n\r\n{", 3, 10 * time.Second, http.StatusRequestTimeout},
		{"more bodies of a caller than are read at once", "POST /v1/apply HTTP/1.1\r\nHost: hub\r\nContent-Length: 9\r\nAuthorization: " + bearer + "\r\n\r\n{", 40, 10 * time.Second, 0},
		{"a body that never comes whole", "POST /v1/apply HTTP/1.1\r\nHost: hub\r\nTransfer-Encoding: chunked\r\nAuthorization: " + bearer + "\r\n\r\n1\r\n{\r\n", 3, 10 * time.Second, http.StatusRequestTimeout},
		{"nothing", "", 3, 10 * time.Second, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, end := slowHub(t)
				defer end()
				var conns []net.Conn
				for range row.conns {
					c := dial()
					defer c.Close()
					if _, err := io.WriteString(c, row.sent); err != nil {
						t.Fatal(err)
					}
					conns = append(conns, c)
				}
				synctest.Wait()
				other := dial()
				defer other.Close()
				fmt.Fprintf(other, "GET %s HTTP/1.1\r\nHost: hub\r\nAuthorization: %s\r\n\r\n", protoapi.PathWhoami, tokenOf("viewer"))
				began := time.Now()
				resp, err := http.ReadResponse(bufio.NewReader(other), nil)
				if err != nil || resp.StatusCode != http.StatusOK || time.Since(began) > 0 {
					t.Fatalf("another caller meanwhile: %v, %v after %s", resp, err, time.Since(began))
				}
				defer resp.Body.Close()
				for _, c := range conns {
					resp, err := http.ReadResponse(bufio.NewReader(c), nil)
					if took := time.Since(began); took > row.within {
						t.Fatalf("cut off after %s", took)
					}
					switch {
					case err == nil && row.status == 0 && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout):
						// One of too many.
					case (err != nil) != (row.status == 0) || err == nil && resp.StatusCode != row.status:
						t.Errorf("%v, %v", resp, err)
					case err == nil && resp.Header.Get("Content-Type") != protoapi.ProblemType:
						t.Errorf("answered %s", resp.Header.Get("Content-Type"))
					}
					if resp != nil {
						resp.Body.Close()
					}
				}
			})
		})
	}
}

// The headers of a request are bounded, and what a header says of a caller is nothing.
func TestHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, end := slowHub(t)
		defer end()
		for name, row := range map[string]struct {
			headers string
			status  int
		}{
			"long":      {"X: " + strings.Repeat("x", 80<<10) + "\r\n", http.StatusRequestHeaderFieldsTooLarge},
			"by header": {"X-Remote-User: admin\r\nX-SSL-Client-CN: viewer\r\n", http.StatusUnauthorized},
		} {
			c := dial()
			defer c.Close()
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: hub\r\n%s\r\n", protoapi.PathWhoami, row.headers)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != row.status {
				t.Errorf("%s: %v, %v", name, resp, err)
				continue
			}
			resp.Body.Close()
		}
	})
}

// A guess at a token by its length or beginning is as wrong as any.
func TestWrongTokens(t *testing.T) {
	a, _ := handler(t, func(c *api.Config) { c.Limits = gate.Limits{SourcePerSecond: 1000} })
	for _, token := range []string{
		"", "Bearer", "Bearer ", "Bearer  " + apitest.Token, "Basic " + apitest.Token, apitest.Token, bearer + " ", bearer[:len(bearer)-1],
		"Bearer " + strings.ToUpper(apitest.Token), "Bearer " + strings.Repeat("x", 16<<10), "Bearer \x00",
	} {
		got := ask(t, a, "", http.MethodGet, protoapi.PathWhoami, "", "Authorization: "+token)
		if got.status != http.StatusUnauthorized || got.problem.Code != protocol.CodeDenied || strings.Contains(got.text, apitest.Token) {
			t.Errorf("%.40q: %d %s", token, got.status, got.text)
		}
	}
	for _, token := range []string{bearer, strings.Replace(bearer, "Bearer", "bearer", 1)} { // RFC 9110, section 11.1: in any case
		if got := ask(t, a, "", http.MethodGet, protoapi.PathWhoami, "", "Authorization: "+token); got.status != http.StatusOK {
			t.Errorf("%.12q: %d", token, got.status)
		}
	}
}
