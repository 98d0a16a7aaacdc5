package httpboot

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// answers reads so many answers, of GET, and returns status and body of each.
func answers(t *testing.T, in *bufio.Reader, n int) (got []string) {
	t.Helper()
	for range n {
		resp, err := http.ReadResponse(in, &http.Request{Method: "GET"})
		if err != nil {
			return append(got, err.Error())
		}
		body, err := io.ReadAll(resp.Body)
		got = append(got, fmt.Sprintf("%d %d", resp.StatusCode, len(body)))
		if err != nil {
			got = append(got, err.Error())
		}
	}
	return got
}

// TestOneConnection: requests of all kinds on one connection are answered in their order,
// however they are cut into packets, and by whichever server.
func TestOneConnection(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { oneConnection(t, start(t), func(c net.Conn) net.Conn { return c }) })
	t.Run("HTTPS", func(t *testing.T) { oneConnection(t, start(t, withTLS), secureClient) })
}

// secureClient makes a connection one of TLS.
func secureClient(c net.Conn) net.Conn {
	return tls.Client(c, &tls.Config{RootCAs: testPKI().roots, ServerName: "127.0.0.1"})
}

func oneConnection(t *testing.T, w *world, over func(net.Conn) net.Conn) {
	t.Helper()
	get := func(name, more string) string {
		return "GET /b/" + token + "/" + name + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n"
	}
	report := "POST /b/" + token + "/report/booted HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"
	old := strings.ReplaceAll(get("small.efi", ""), "\r\n", "\n")
	for _, row := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"one after the other in one packet", []string{get("small.efi", "") + get("nope", "") + get(bootName, "") + get("empty.efi", "")}, "200 2, 404 10, 200 2097152, 200 0"},
		{"in two packets", []string{get("small.efi", "")[:9], get("small.efi", "")[9:] + get("nope", "")[:20], get("nope", "")[20:]}, "200 2, 404 10"},
		{"the end in two packets", []string{strings.TrimSuffix(get("small.efi", ""), "\n"), "\n"}, "200 2"},
		{"a report between, which stays with net/http", []string{get("small.efi", "") + report + get("small.efi", ""), get(bootName, "")}, "200 2, 204 0, 200 2, 200 2097152"},
		{"a report whose body comes later", []string{report[:len(report)-2], report[len(report)-2:] + get("small.efi", "")}, "204 0, 200 2"},
		{"bare line feeds", []string{old + get("small.efi", "")}, "200 2, 200 2"},
		{"a header that fills more than the buffer", []string{get("small.efi", "") + get("small.efi", "X: "+strings.Repeat("y", headSize)+"\r\n") + get("nope", "")}, "200 2, 200 2, 404 10"},
		{"a header that ends with the buffer", []string{get("small.efi", "X: "+strings.Repeat("y", headSize-5-len(get("small.efi", "")))+"\r\n") + get("nope", "")}, "200 2, 404 10"},
		{"many small ones, more than the buffer", []string{strings.Repeat(get("small.efi", ""), 100)}, strings.TrimPrefix(strings.Repeat(", 200 2", 100), ", ")},
		{"a wrong one", []string{get("small.efi", "") + "GET /x y HTTP/1.1\r\n\r\n"}, "200 2, 400 15"},
		{"nothing behind the last one", []string{get("small.efi", "Connection: close\r\n") + get("small.efi", "")}, "200 2, unexpected EOF"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := over(w.dialFrom(t, "127.0.0.1"))
			go func() {
				for _, part := range row.parts {
					if _, err := io.WriteString(c, part); err != nil {
						return
					}
					time.Sleep(time.Millisecond) // the next one is another packet, most likely
				}
			}()
			if got := strings.Join(answers(t, bufio.NewReader(c), strings.Count(row.want, ",")+1), ", "); got != row.want && (row.want != "200 2, unexpected EOF" || !strings.HasPrefix(got, "200 2, read tcp")) {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestAnswers: of what a handler does wrong or leaves out a client sees the same from the
// front as from net/http, but for a body without a length that is long: firmware knows no
// chunks, so that it ends with the connection.
func TestAnswers(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { allAnswers(t, nil, func(c net.Conn) net.Conn { return c }) })
	t.Run("HTTPS", func(t *testing.T) { allAnswers(t, tlsConfig(testPKI(), newMetrics(schemeHTTPS)), secureClient) })
}

func allAnswers(t *testing.T, secure *tls.Config, over func(net.Conn) net.Conn) {
	t.Helper()
	long := strings.Repeat("x", 3*answerSize)
	for _, row := range []struct {
		name   string
		method string
		handle func(http.ResponseWriter)
		want   string // status, length as said, bytes that came, whether it was kept
	}{
		{"nothing", "GET", func(http.ResponseWriter) {}, "200 0 0 true"},
		{"a status only", "GET", func(w http.ResponseWriter) { w.WriteHeader(404) }, "404 0 0 true"},
		{"two", "GET", func(w http.ResponseWriter) { w.WriteHeader(404); w.WriteHeader(200) }, "404 0 0 true"},
		{"an early one", "GET", func(w http.ResponseWriter) { w.WriteHeader(404); w.WriteHeader(103) }, "404 0 0 true"},
		{"a body without a length", "GET", func(w http.ResponseWriter) { _, _ = io.WriteString(w, "abc") }, "200 3 3 true"},
		{"a long one", "GET", func(w http.ResponseWriter) { _, _ = io.WriteString(w, long) }, fmt.Sprintf("200 -1 %d false", len(long))},
		{"a long one in parts", "GET", func(w http.ResponseWriter) {
			for i := range long {
				_, _ = io.WriteString(w, long[i:i+1])
			}
		}, fmt.Sprintf("200 -1 %d false", len(long))},
		{"one that is flushed", "GET", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, "abc")
			_ = http.NewResponseController(w).Flush()
		}, "200 -1 3 false"},
		{"less than its length", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "abc")
		}, "200 5 3 false"},
		{"more than its length", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "2")
			if _, err := io.WriteString(w, "abc"); !errors.Is(err, http.ErrContentLength) {
				panic(err)
			}
			_, _ = io.WriteString(w, "ab")
		}, "200 2 2 true"},
		{"a length that is none", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "few")
			_, _ = io.WriteString(w, "abc")
		}, "200 3 3 true"},
		{"a file that ends early", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "50000")
			_, _ = io.Copy(w, io.LimitReader(strings.NewReader(long[:4000]), 50000))
		}, "200 50000 4000 false"},
		{"a reader, small", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "300")
			_, _ = io.Copy(w, io.LimitReader(struct{ io.Reader }{strings.NewReader(long)}, 300))
		}, "200 300 300 true"},
		{"a reader, large", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			_, _ = io.Copy(w, io.LimitReader(struct{ io.Reader }{strings.NewReader(long)}, int64(len(long))))
		}, fmt.Sprintf("200 %d %d true", len(long), len(long))},
		{"a body of HEAD", "HEAD", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "3")
			_, _ = io.WriteString(w, "abc")
		}, "200 3 0 true"},
		{"a body of 304", "GET", func(w http.ResponseWriter) {
			w.WriteHeader(304)
			if _, err := io.WriteString(w, "abc"); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, "304 0 0 true"},
		{"a panic", "GET", func(http.ResponseWriter) { panic("no") }, "unexpected EOF"},
		{"a panic behind a part", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "50000")
			_, _ = io.WriteString(w, long)
			panic(http.ErrAbortHandler)
		}, fmt.Sprintf("200 50000 %d false", len(long))},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			f := newFront(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { row.handle(w) }), secure, slog.New(slog.DiscardHandler))
			served := make(chan error)
			go func() { served <- f.serve(newLimited(l, 2, 2, newMetrics(schemeHTTP))) }()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(patience))
			c = over(c)
			got, in := "", bufio.NewReader(c)
			for range 2 { // the second answer tells whether the connection was kept
				_, _ = io.WriteString(c, row.method+" / HTTP/1.1\r\nHost: x\r\n\r\n") // it may be closed
				resp, err := http.ReadResponse(in, &http.Request{Method: row.method})
				if got != "" {
					got += fmt.Sprint(" ", err == nil)
				} else if err != nil {
					got = err.Error()
					break
				}
				if err != nil {
					break
				}
				body, _ := io.ReadAll(resp.Body)
				if !strings.Contains(got, " ") {
					got = fmt.Sprintf("%d %d %d", resp.StatusCode, resp.ContentLength, len(body))
				}
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			f.shutdown(t.Context())
			if err := <-served; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
}

// TestStop: a server that stops ends what waits, and sends to its end what is being sent.
func TestStop(t *testing.T) {
	files := &blockingFiles{asked: make(chan struct{}), let: make(chan struct{})}
	w := start(t, func(c *Config) {
		files.dirFiles = c.Files.(*dirFiles)
		c.Files = files
	})
	if err := writeSlow(files.dir); err != nil {
		t.Fatal(err)
	}
	idle, fresh, busy := w.dialFrom(t, "127.0.0.1"), w.dialFrom(t, "127.0.0.1"), w.dialFrom(t, "127.0.0.1")
	if ask(t, idle, "GET", "/b/"+token+"/small.efi") == nil {
		t.Fatal("no answer")
	}
	done := make(chan *http.Response)
	go func() { done <- ask(t, busy, "GET", "/b/"+token+"/slow.efi") }()
	<-files.asked
	ended := make(chan struct{})
	go func() {
		w.server.end(t.Context())
		close(ended)
	}()
	for _, c := range []net.Conn{idle, fresh} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection that waits: %v", err)
		}
	}
	close(files.let)
	if resp := <-done; resp == nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a request that was being answered: %+v", resp)
	}
	if _, err := busy.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after it: %v", err)
	}
	<-ended
}

// TestStuckHandler: a server that stops does not wait for a handler that does not end.
func TestStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &blockingFiles{dirFiles: &dirFiles{}, asked: make(chan struct{}), let: make(chan struct{})}
		client, server := net.Pipe()
		s, err := New(Config{Listener: &oneConn{conn: server, closed: make(chan struct{})}, Files: files, Evidence: &memEvidence{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		if _, err := io.WriteString(client, "GET /b/"+token+"/slow.efi HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-files.asked
		begun := time.Now()
		cancel()
		if err := <-done; err != nil || time.Since(begun) != stopTimeout {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		close(files.let)
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("its connection: %v", err)
		}
	})
}

// brokenListener fails once for a while, and then for good.
type brokenListener struct {
	oneConn
	asked []time.Time
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if l.asked = append(l.asked, time.Now()); len(l.asked) == 1 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, errors.New("broken")
}

// TestBrokenListener: a lack of descriptors passes, anything else ends the server.
func TestBrokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &brokenListener{oneConn: oneConn{closed: make(chan struct{})}}
		s, err := New(Config{Listener: l, Files: &dirFiles{}, Evidence: &memEvidence{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("Run: %v", err)
		}
		if len(l.asked) != 2 || l.asked[1].Sub(l.asked[0]) != acceptPause {
			t.Errorf("asked at %v", l.asked)
		}
	})
}
