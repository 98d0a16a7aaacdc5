package httpboot

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"rackboot/netboot"
)

// A seenConn notes how bytes leave the server.
type seenConn struct {
	*net.TCPConn
	seen *seen
}

type seen struct {
	mu     sync.Mutex
	from   []io.Reader // of ReadFrom
	sent   int64       // by ReadFrom
	writes []int       // sizes
}

func (c seenConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	c.seen.from, c.seen.sent = append(c.seen.from, r), c.seen.sent+n
	return n, err
}

func (c seenConn) Write(p []byte) (int, error) {
	c.seen.mu.Lock()
	c.seen.writes = append(c.seen.writes, len(p))
	c.seen.mu.Unlock()
	return c.TCPConn.Write(p)
}

type seenListener struct {
	net.Listener
	seen *seen
}

func (l seenListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return seenConn{c.(*net.TCPConn), l.seen}, nil
}

// TestSendfile: net.TCPConn hands to the kernel what it finds as an *os.File behind
// at most one LimitedReader. That is what reaches the connection, through ServeContent,
// the server's own writer and the limit's connection. net/http copies the first bytes
// itself, to see whether a body is small; the front copies none.
func TestSendfile(t *testing.T) {
	for _, row := range []struct {
		name, headers string
		want, first   int64
	}{
		{"the whole", "", int64(len(bootBytes())), 0},
		{"from the middle", "Range: bytes=1000000-\r\n", int64(len(bootBytes())) - 1000000, 0},
		{"from the middle, by net/http", "TE: trailers\r\nRange: bytes=1000000-\r\n", int64(len(bootBytes())) - 1000000, 512},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &seen{}
			w := start(t, func(c *Config) { c.Listener = seenListener{c.Listener, s} })
			if _, _, body := w.get(t, "GET", "/b/"+token+"/"+bootName, row.headers); int64(len(body)) != row.want {
				t.Fatalf("%d bytes", len(body))
			}
			w.stop()
			if s.sent != row.want-row.first {
				t.Errorf("%d bytes of %d went by ReadFrom", s.sent, row.want)
			}
			for _, r := range s.from {
				lr, ok := r.(*io.LimitedReader)
				if !ok {
					t.Fatalf("the connection got a %T", r)
				}
				if _, ok := lr.R.(*os.File); !ok {
					t.Errorf("behind the limit is a %T", lr.R)
				}
			}
			total := 0
			for _, n := range s.writes {
				total += n
			}
			if int64(total) > row.first+512 {
				t.Errorf("%d bytes were copied, more than a header and the first of the file", total)
			}
		})
	}
	var _ fileSender = (*net.TCPConn)(nil)
}

// TestRecords: over TLS the copies are bounded, and records are full from the first:
// a file costs a write for each 16 KiB and no more memory than that.
func TestRecords(t *testing.T) {
	const record, overhead = 16 << 10, 64
	s := &seen{}
	w := start(t, withTLS, func(c *Config) { c.Listener = seenListener{c.Listener, s} })
	conn, err := tls.Dial("tcp", w.addr, &tls.Config{RootCAs: testPKI().roots})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.mu.Lock()
	handshake := len(s.writes)
	s.mu.Unlock()
	if _, err := io.WriteString(conn, "GET /b/"+token+"/"+bootName+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, conn); err != nil || n < int64(len(bootBytes())) {
		t.Fatal(n, err)
	}
	w.stop()
	full := 0
	for _, n := range s.writes[handshake:] {
		if n > record+overhead {
			t.Errorf("a write of %d bytes", n)
		}
		if n > record {
			full++
		}
	}
	// A header, its end, and the alert at the end come on top.
	if want := len(bootBytes()) / record; full < want-1 || len(s.writes)-handshake > want+8 {
		t.Errorf("%d writes, %d of them full records, for %d records", len(s.writes)-handshake, full, want)
	}
}

// BenchmarkNotFound is what a loader's misses cost; GRUB has eleven.
func BenchmarkNotFound(b *testing.B) {
	files := &dirFiles{dir: b.TempDir()}
	w := benchServer(b, Config{Files: files})
	conn, err := net.Dial("tcp", w)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	buf := make([]byte, 1024)
	for b.Loop() {
		if _, err := io.WriteString(conn, "GET /b/other/grub.cfg-01-52-54-00-00-00-01 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCopy is one file of 32 MiB for one client, by both ways.
func BenchmarkCopy(b *testing.B) {
	const size = 32 << 20
	files := &dirFiles{dir: b.TempDir()}
	if err := os.WriteFile(filepath.Join(files.dir, bootName), make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	for scheme, certs := range map[string]netboot.Certificates{schemeHTTP: nil, schemeHTTPS: testPKI()} {
		b.Run(scheme, func(b *testing.B) {
			addr := benchServer(b, Config{Files: files, Certificates: certs})
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if err := fetch(addr, scheme, size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
