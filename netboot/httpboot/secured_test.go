package httpboot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded counts the records of TLS with data that come (RFC 8446 section 5.1).
type recorded struct {
	net.Conn
	rest  []byte // of a record's header
	skip  int    // of its body
	sizes []int
}

func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	for b := p[:n]; len(b) > 0; {
		if took := min(r.skip, len(b)); took > 0 {
			r.skip, b = r.skip-took, b[took:]
			continue
		}
		r.rest, b = append(r.rest, b[0]), b[1:]
		if len(r.rest) == 5 {
			r.skip = int(binary.BigEndian.Uint16(r.rest[3:]))
			if r.rest[0] == 23 { // application_data
				r.sizes = append(r.sizes, r.skip)
			}
			r.rest = r.rest[:0]
		}
	}
	return n, err
}

// TestSmallRecord: header and body of a small file are one record, also behind a larger
// file and another small one.
func TestSmallRecord(t *testing.T) {
	w := start(t, withTLS)
	if err := os.WriteFile(filepath.Join(w.files.dir, "package.deb"), bootBytes()[:4<<10], 0o600); err != nil {
		t.Fatal(err)
	}
	c := &recorded{Conn: w.dialFrom(t, "127.0.0.1")}
	secure := secureClient(c)
	in := bufio.NewReader(secure)
	get := func(name string) []byte {
		t.Helper()
		before := len(c.sizes)
		if _, err := io.WriteString(secure, "GET /b/"+token+"/"+name+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		c.sizes = c.sizes[before:]
		return body
	}
	get("small.efi") // tickets of the handshake come with the first one
	c.sizes = nil
	if body := get("package.deb"); len(c.sizes) != 1 || !bytes.Equal(body, bootBytes()[:4<<10]) {
		t.Errorf("a small file of %d bytes comes in records of %d", len(body), c.sizes)
	}
	if body := get(bootName); !bytes.Equal(body, bootBytes()) {
		t.Errorf("%d bytes of %d", len(body), len(bootBytes()))
	}
	c.sizes = nil
	if get("empty.efi"); len(c.sizes) != 1 {
		t.Errorf("an empty file comes in records of %d", c.sizes)
	}
}

// TestPlainOnSecurePort: who speaks HTTP there is told so.
func TestPlainOnSecurePort(t *testing.T) {
	w := start(t, withTLS)
	for said, want := range map[string]string{
		"GET /b/x/y HTTP/1.1\r\nHost: x\r\n\r\n":  notTLS,
		"HEAD /b/x/y HTTP/1.1\r\nHost: x\r\n\r\n": notTLS,
		"SSH-2.0-none\r\n":                        "",
	} {
		c := w.dialFrom(t, "127.0.0.1")
		if _, err := io.WriteString(c, said); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if !strings.HasPrefix(string(got), want) || want == "" && bytes.Contains(got, []byte("HTTP")) || err != nil && len(got) == 0 && want != "" {
			t.Errorf("%q is answered %q, %v", said, got, err)
		}
	}
}

// TestStopWithoutReader: a server with TLS that stops ends the connection of a client that
// reads nothing, without a word that the client would have to take.
func TestStopWithoutReader(t *testing.T) {
	const size = 64 << 20 // more than the kernel's buffers
	w := start(t, withTLS)
	large := filepath.Join(w.files.dir, "large.iso")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, size); err != nil {
		t.Fatal(err)
	}
	c := secureClient(w.dialFrom(t, "127.0.0.1"))
	if _, err := io.WriteString(c, "GET /b/"+token+"/large.iso HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	w.server.end(now)
	w.stop()
	n, err := io.Copy(io.Discard, c)
	if n >= size || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client reads %d bytes, %v", n, err)
	}
	if events := w.evidence.all(); len(events) != 0 {
		t.Errorf("it counts as fetched: %+v", events)
	}
}
