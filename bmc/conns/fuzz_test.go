package conns

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a connection in memory whose other end says what it is made to say, whatever it is asked. What it has said is there at
// once, also for a reader whose deadline is over, as of a TLS connection that has read it of the socket; then it
// says nothing more, and the reader gives up, or it ends.
type script struct {
	says [][]byte // to each request
	step int      // bytes of a read at most; 0 has no bound
	ends bool     // it ends after what it said last

	mu      sync.Mutex
	changed *sync.Cond // asked or closed
	said    []byte     // that is not read
	asked   int
	read    int
	closed  bool
}

func newScript(step int, ends bool, says ...[]byte) *script {
	s := &script{says: says, step: step, ends: ends}
	s.changed = sync.NewCond(&s.mu)
	return s
}

var _ net.Conn = (*script)(nil)

func (s *script) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.asked == 0 && !s.closed { // net/http listens before it asks
		s.changed.Wait()
	}
	switch {
	case s.closed:
		return 0, net.ErrClosed
	case len(s.said) == 0 && s.ends && s.asked == len(s.says):
		return 0, io.EOF
	case len(s.said) == 0:
		return 0, os.ErrDeadlineExceeded
	}
	if s.step > 0 {
		p = p[:min(s.step, len(p))]
	}
	n := copy(p, s.said)
	s.said = s.said[n:]
	s.read += n
	return n, nil
}

// Write takes a request, which comes in one piece.
func (s *script) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	if s.asked < len(s.says) {
		s.said = append(s.said, s.says[s.asked]...)
		s.asked++
		s.changed.Broadcast()
	}
	return len(p), nil
}

func (s *script) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	return nil
}

// consumed is how much was read of it, and whether it is closed.
func (s *script) consumed() (read int, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read, s.closed
}

func (*script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*script) SetDeadline(time.Time) error      { return nil }
func (*script) SetReadDeadline(time.Time) error  { return nil }
func (*script) SetWriteDeadline(time.Time) error { return nil }

// heardOf is what came of an exchange.
type heardOf struct {
	status   int
	proto    string
	header   http.Header
	length   int64
	encoding []string
	body     []byte
	trailer  http.Header
	cut      bool // the body did not come to its end
}

// hear does one exchange, and reads the answer to its end.
func hear(t *testing.T, over http.RoundTripper, method string) (h heardOf, err error) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPatch {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://bmc.example/redfish/v1/Systems/1", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		return h, err
	}
	defer resp.Body.Close()
	h = heardOf{status: resp.StatusCode, proto: resp.Proto, header: resp.Header, length: resp.ContentLength, encoding: resp.TransferEncoding}
	h.body, err = io.ReadAll(resp.Body)
	h.cut, h.trailer = err != nil, resp.Trailer
	return h, nil
}

// same compares what two transports made of the same bytes.
func (h heardOf) same(o heardOf) bool {
	return h.status == o.status && h.proto == o.proto && maps.EqualFunc(h.header, o.header, slices.Equal) && h.length == o.length && slices.Equal(h.encoding, o.encoding) &&
		h.cut == o.cut && (h.cut || bytes.Equal(h.body, o.body) && maps.EqualFunc(h.trailer, o.trailer, slices.Equal))
}

// fuzzHeader bounds the header of an answer here.
const fuzzHeader = 1 << 12

// FuzzAnswer has a BMC answer with any bytes, in pieces, and say others once it is asked again. Nothing of a header is read past its
// bound, and a connection is kept only if the answer was whole and stated its own end, and used again only if that was all that was said. What is
// asked next is answered by what was said to that. net/http makes the same of what both take.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		sized("x"), sized(""), sized("x") + sized("forged"), sized("x") + " ",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1;a=b\r\nc\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nc\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\nc\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
		"HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 304 Not Modified\r\n\r\n" + sized("x"), "HTTP/1.1 103 Early Hints\r\n\r\n" + sized("x"),
		"HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
		"HTTP/1.0 200 OK\r\n\r\nold", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 200\r\n\r\n",
		"220 ready\r\n\r\n", "", "\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", fuzzHeader) + "\r\n\r\n",
	} {
		for _, how := range []byte{0, 1, 2, 5, 9} {
			f.Add([]byte(answer), []byte(""), how)
		}
		f.Add([]byte(answer), []byte(answer), byte(0))
	}
	f.Fuzz(func(t *testing.T, first, late []byte, how byte) {
		if len(first)+len(late) > 1<<16 {
			return
		}
		method := []string{http.MethodGet, http.MethodPatch, http.MethodHead, http.MethodGet}[how&3]
		pieces, ends := int(how>>3)*7, how&4 != 0
		next := []byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
		one := newScript(pieces, ends, first, next)
		if ends {
			one.says = one.says[:1]
		}
		var dialed []*script
		tr := newTransport(t, func(c *Config) {
			c.MaxHeaderBytes = fuzzHeader
			c.DialContext = func(context.Context, string, string) (net.Conn, error) {
				c := one
				if len(dialed) > 0 {
					c = newScript(0, false, next)
				}
				dialed = append(dialed, c)
				return c, nil
			}
		})
		// The header is all that is read before its answer is given to the caller.
		req, err := http.NewRequestWithContext(t.Context(), method, "http://bmc.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if read, _ := one.consumed(); read > fuzzHeader {
			t.Fatalf("%d bytes of a header were read", read)
		}
		whole := false
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			whole = err == nil
			_ = resp.Body.Close()
		}
		if len(dialed) != 1 {
			t.Fatal("what was answered, or was not, by a new connection was sent again")
		}
		read, closed := one.consumed()
		kept := len(tr.idle) == 1
		switch {
		case kept == closed:
			t.Fatal("a connection is to wait, or to be closed")
		case kept && (!whole || resp.Close || resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && method != http.MethodHead):
			t.Fatalf("kept after %q: whole %v, %d of %d bytes read", first, whole, read, len(first))
		case len(tr.turns) > 0:
			t.Fatal("its turn is not over")
		}
		one.mu.Lock()
		one.said = append(one.said, late...) // nobody asked
		one.mu.Unlock()
		h, err := hear(t, tr, http.MethodGet)
		if err != nil || string(h.body) != "next" {
			t.Fatalf("after %q and %q: %v, %q", first, late, err, h.body)
		}
		if _, closed := one.consumed(); len(late)+len(first)-read > 0 && !closed {
			t.Fatal("a connection on which something was said that nobody asked for is used again")
		}
		agree(t, first, method, pieces, ends)
	})
}

// agree fails where net/http makes something else of an answer that both take.
func agree(t *testing.T, answer []byte, method string, pieces int, ends bool) {
	t.Helper()
	dial := func(context.Context, string, string) (net.Conn, error) {
		return newScript(pieces, ends, answer), nil
	}
	ours, errOurs := hear(t, newTransport(t, func(c *Config) { c.MaxHeaderBytes, c.DialContext = fuzzHeader, dial }), method)
	theirs, errTheirs := hear(t, &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: fuzzHeader, ReadBufferSize: bufferSize}, method)
	if errOurs == nil && errTheirs == nil && !ours.same(theirs) {
		t.Fatalf("of %q:\nours   %+v\ntheirs %+v", answer, ours, theirs)
	}
}
