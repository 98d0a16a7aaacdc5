package httpboot

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestPlaces: clients that read nothing take no place from those that do.
func TestPlaces(t *testing.T) {
	w := start(t)
	big := filepath.Join(w.files.dir, "big.img") // more than the buffers of a connection
	if err := errors.Join(os.WriteFile(big, nil, 0o600), os.Truncate(big, 64<<20)); err != nil {
		t.Fatal(err)
	}
	for range 2*runtime.GOMAXPROCS(0) + 1 {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "GET /b/%s/big.img HTTP/1.1\r\nHost: x\r\n\r\n", token); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1024)); err != nil { // its file is being sent
			t.Fatal(err)
		}
	}
	if _, _, body := w.get(t, "GET", "/b/"+token+"/"+bootName, ""); body != string(bootBytes()) {
		t.Errorf("%d bytes", len(body))
	}
}

// TestSendEnds: the deadline of a connection ends a file that nobody reads, with what
// was sent; a file that became shorter ends early, and says so.
func TestSendEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(100); err != nil {
		t.Fatal(err)
	}
	c := newFileConn(server.(*net.TCPConn), make(chan struct{}, 1), func() {})
	short := &io.LimitedReader{R: file, N: 200}
	if n, err := c.ReadFrom(short); n != 100 || err != nil || short.N != 100 {
		t.Errorf("%d bytes of a file of 100, %v; %d left", n, err, short.N)
	}
	if err := file.Truncate(64 << 20); err != nil {
		t.Fatal(err)
	}
	var past sync.WaitGroup
	past.Go(func() {
		_, err := io.ReadFull(client, make([]byte, 101)) // some of it was sent
		if err := errors.Join(err, c.SetWriteDeadline(time.Now())); err != nil {
			t.Error(err)
		}
	})
	defer past.Wait()
	stuck := &io.LimitedReader{R: file, N: 64 << 20}
	n, err := c.ReadFrom(stuck)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || stuck.N != 64<<20-n || len(c.places) != 0 {
		t.Errorf("%d bytes, %v; %d left, %d places", n, err, stuck.N, len(c.places))
	}
}
