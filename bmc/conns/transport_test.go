package conns

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a BMC that says what a test makes it say. By each connection it is asked with the number of the
// connection and of the request on it, from 1; it says nothing more where the answer is empty.
type peer struct {
	url    string
	dials  atomic.Int32
	asked  atomic.Int32
	closed chan int // numbers of connections that the client has ended
}

func newPeer(t *testing.T, says func(conn, request int) (answer string, end bool)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{url: "http://" + l.Addr().String(), closed: make(chan int, 100)}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(p.dials.Add(1))
			all.Go(func() {
				defer func() { _ = c.Close() }()
				r := bufio.NewReader(c)
				for i := 1; ; i++ {
					req, err := http.ReadRequest(r)
					if err != nil {
						p.closed <- n
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					p.asked.Add(1)
					answer, end := says(n, i)
					_, _ = io.WriteString(c, answer)
					if end {
						return
					}
				}
			})
		}
	})
	return p
}

func newTransport(t *testing.T, change func(*Config)) *Transport {
	t.Helper()
	c := Config{DialContext: new(net.Dialer).DialContext, HandshakeTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 12, MaxConns: 3, Pool: &Pool{}}
	if change != nil {
		change(&c)
	}
	tr := New(c)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func ask(t *testing.T, tr *Transport, method, url, body string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		req.Body = nil
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	return string(said), err
}

func sized(s string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(s), s)
}

// TestConnections: what an exchange is carried by, and how often it is asked.
func TestConnections(t *testing.T) {
	for name, tt := range map[string]struct {
		says         func(conn, request int) (string, bool)
		methods      string // one after the other
		answers      string // of each; an error is -
		dials, asked int32
	}{
		"one connection": {func(_, n int) (string, bool) { return sized(fmt.Sprint(n)), false }, "GET PATCH GET", "1 2 3", 1, 3},
		"chunks": {func(_, n int) (string, bool) {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n", false
		}, "GET GET", "c c", 1, 2},
		"the BMC says that it ends it": {func(_, _ int) (string, bool) {
			return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", false
		}, "GET GET", "x x", 2, 2},
		"until the end of the connection":  {func(_, _ int) (string, bool) { return "HTTP/1.0 200 OK\r\n\r\nold", true }, "GET GET", "old old", 2, 2},
		"it ends without a word":           {func(_, _ int) (string, bool) { return sized("x"), true }, "GET GET GET", "x x x", 3, 3},
		"it ends when it is asked again":   {func(_, n int) (string, bool) { return sized("x")[:(2-n)*len(sized("x"))], n == 2 }, "GET GET", "x x", 2, 3},
		"a PATCH is not sent again":        {func(_, n int) (string, bool) { return sized("x")[:(2-n)*len(sized("x"))], n == 2 }, "GET PATCH", "x -", 1, 2},
		"nor anything by a new connection": {func(int, int) (string, bool) { return "", true }, "GET", "-", 1, 1},
		"nor what was answered in part":    {func(_, n int) (string, bool) { return sized("x")[:len(sized("x"))-5*(n-1)], n == 2 }, "GET GET", "x -", 1, 2},
		"a body that is cut":               {func(int, int) (string, bool) { return "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", true }, "GET", "-", 1, 1},
		"1xx before":                       {func(int, int) (string, bool) { return "HTTP/1.1 103 Early Hints\r\n\r\n" + sized("x"), false }, "GET GET", "x x", 1, 2},
		"101":                              {func(int, int) (string, bool) { return "HTTP/1.1 101 Switching Protocols\r\n\r\n", false }, "GET", "-", 1, 1},
		"a header without an end": {func(int, int) (string, bool) {
			return "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<13) + "\r\n\r\n", false
		}, "GET", "-", 1, 1},
		"an answer that nobody asked for": {func(n, _ int) (string, bool) { return sized(fmt.Sprint(n)) + sized("forged"), false }, "GET GET", "1 2", 2, 2},
		"no HTTP":                         {func(int, int) (string, bool) { return "220 ready\r\n\r\n", false }, "GET", "-", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, tt.says)
			tr := newTransport(t, nil)
			var got []string
			for method := range strings.FieldsSeq(tt.methods) {
				body := ""
				if method != http.MethodGet {
					body = "{}"
				}
				said, err := ask(t, tr, method, p.url, body)
				if err != nil {
					said = "-"
				}
				got = append(got, said)
			}
			if answers := strings.Join(got, " "); answers != tt.answers || p.dials.Load() != tt.dials || p.asked.Load() != tt.asked {
				t.Errorf("answers %s over %d connections, asked %d times", answers, p.dials.Load(), p.asked.Load())
			}
			tr.CloseIdleConnections()
		})
	}
}

// TestUnread: a connection on which an answer was not read to its end is not used again, and one that waits ends
// by itself.
func TestUnread(t *testing.T) {
	p := newPeer(t, func(n, _ int) (string, bool) { return sized(fmt.Sprint(n, strings.Repeat("x", 5000))), false })
	tr := newTransport(t, func(c *Config) { c.IdleTimeout = 50 * time.Millisecond })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Error(err)
	}
	if n := <-p.closed; n != 1 {
		t.Error(n)
	}
	if said, err := ask(t, tr, http.MethodGet, p.url, ""); err != nil || !strings.HasPrefix(said, "2x") {
		t.Errorf("%q, %v", said, err)
	}
	if n := <-p.closed; n != 2 {
		t.Error(n)
	}
}

// TestGivenUp: who gives up has the reason, at once, whether nothing of the answer came or a part.
func TestGivenUp(t *testing.T) {
	for _, part := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"} {
		asked := make(chan struct{})
		p := newPeer(t, func(int, int) (string, bool) {
			close(asked)
			return part, false
		})
		tr := newTransport(t, nil)
		why := errors.New("given up")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if part == "" {
			go func() {
				<-asked
				cancel(why)
			}()
		}
		resp, err := tr.RoundTrip(req)
		if err == nil {
			if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			cancel(why)
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, why) || part == "" != (resp == nil) {
			t.Error(resp, err)
		}
		<-p.closed
		if len(tr.turns) > 0 || len(tr.idle) > 0 {
			t.Error("something is left of it")
		}
	}
}

// TestAtOnce: there are no more exchanges at once than may be, and as many as may be.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = 20
		var asked atomic.Int32
		answers := make(chan struct{})
		var peers, callers sync.WaitGroup
		tr := newTransport(t, func(c *Config) {
			c.DialContext = func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				peers.Go(func() {
					defer there.Close()
					for r := bufio.NewReader(there); ; {
						if _, err := http.ReadRequest(r); err != nil {
							return
						}
						asked.Add(1)
						<-answers
						_, _ = io.WriteString(there, sized("x"))
					}
				})
				return here, nil
			}
		})
		for range all {
			callers.Go(func() {
				if _, err := ask(t, tr, http.MethodGet, "http://bmc.example/", ""); err != nil {
					t.Error(err)
				}
			})
		}
		for i := range int32(all) {
			synctest.Wait() // nobody gets any further
			if n := asked.Load(); n != min(i+3, all) {
				t.Errorf("%d were asked after %d answers", n, i)
			}
			answers <- struct{}{}
		}
		callers.Wait()
		tr.CloseIdleConnections()
		peers.Wait()
	})
}

// TestTLS: both versions of HTTP are spoken, and a certificate that is not trusted ends it.
func TestTLS(t *testing.T) {
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
		var dials atomic.Int32
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				dials.Add(1)
			}
		}
		s.EnableHTTP2 = two
		s.StartTLS()
		defer s.Close()
		trust := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		trust.NextProtos = nil
		tr := newTransport(t, func(c *Config) { c.TLS = trust })
		for range 3 {
			want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[two]
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				if said, err := ask(t, tr, method, s.URL, "{}"); err != nil || said != want {
					t.Errorf("%q, %v", said, err)
				}
			}
		}
		if n, want := dials.Load(), map[bool]int32{false: 1, true: 2}[two]; n != want { // one that HTTP/2 was chosen on
			t.Errorf("%d connections, not %d", n, want)
		}
		tr.CloseIdleConnections()
		stranger := newTransport(t, nil)
		var cert *tls.CertificateVerificationError
		if _, err := ask(t, stranger, http.MethodGet, s.URL, ""); !errors.As(err, &cert) {
			t.Error(err)
		}
	}
}
