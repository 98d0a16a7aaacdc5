package conns

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

// awaitWord returns when the other end of a connection that waits has said something, or ended it.
func awaitWord(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return !errors.Is(err, syscall.EAGAIN)
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// TestEndedIsNotUsed: nothing is sent over a connection that the BMC has ended while it waited.
func TestEndedIsNotUsed(t *testing.T) {
	for _, method := range []string{http.MethodPatch, http.MethodGet} {
		p := newPeer(t, func(_, n int) (string, bool) { return sized(fmt.Sprint(n)), true })
		tr := newTransport(t, nil)
		for range 3 {
			if len(tr.idle) > 0 {
				awaitWord(t, tr.idle[0].raw)
			}
			if said, err := ask(t, tr, method, p.url, "{}"); err != nil || said != "1" {
				t.Fatalf("%q, %v", said, err)
			}
		}
	}
}

// TestLateWord: what a BMC says on a connection that waits is not taken for the answer to what is asked next, whether it comes
// in the record of TLS in which the answer ended, in the next one, or without TLS.
func TestLateWord(t *testing.T) {
	forged := sized("forged")
	for name, say := range map[string]func(w io.Writer, body string){
		"with the end of the answer": func(w io.Writer, body string) { _, _ = io.WriteString(w, sized(body)+forged) },
		"afterwards": func(w io.Writer, body string) {
			_, _ = io.WriteString(w, sized(body))
			_, _ = io.WriteString(w, forged)
		},
	} {
		for _, secure := range []bool{false, true} {
			// A short answer is in the buffer with what follows it, and of a long one the end goes past the buffer.
			for _, long := range []int{1, 5 * bufferSize} {
				t.Run(fmt.Sprintf("%s, TLS %v, %d bytes", name, secure, long), func(t *testing.T) {
					s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						c, _, err := http.NewResponseController(w).Hijack()
						if err != nil {
							t.Error(err)
							return
						}
						say(c, r.URL.Path+fmt.Sprintf("%*d", long, 0))
						_, _ = io.Copy(io.Discard, c)
						_ = c.Close()
					}))
					if secure {
						s.StartTLS()
					} else {
						s.Start()
					}
					defer s.Close()
					tr := newTransport(t, func(c *Config) {
						if secure {
							c.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
							c.TLS.NextProtos = nil
						}
					})
					defer tr.CloseIdleConnections()
					for _, path := range []string{"/a", "/b", "/c"} {
						said, err := ask(t, tr, http.MethodGet, s.URL+path, "")
						if want := path + fmt.Sprintf("%*d", long, 0); err != nil || said != want {
							t.Fatalf("%.9q, %v", said, err)
						}
						if len(tr.idle) > 0 && tr.idle[0].quiet() {
							awaitWord(t, tr.idle[0].raw)
						}
					}
				})
			}
		}
	}
}
