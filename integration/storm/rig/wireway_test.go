package rig

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// A wire that is cut one way carries the other way.
func TestWireOneWay(t *testing.T) {
	for _, c := range []struct {
		way       Way
		out, back bool // what passes
	}{{Out, false, true}, {Back, true, false}, {Both, false, false}} {
		t.Run(string(c.way), func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			w, err := newWire("127.0.0.1:0", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			near, err := net.Dial("tcp", w.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			pass := func(from, to net.Conn, want bool) {
				t.Helper()
				if _, err := from.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				within := 50 * time.Millisecond // what does not pass is awaited in vain
				if want {
					within = 10 * time.Second
				}
				_ = to.SetReadDeadline(time.Now().Add(within)) // a connection has deadlines
				_, err := io.ReadFull(to, make([]byte, 1))
				if want && err != nil || !want && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("passes: want %t, got %v", want, err)
				}
			}
			pass(near, far, true)
			pass(far, near, true)
			if err := w.CutWay(c.way); err != nil {
				t.Fatal(err)
			}
			pass(near, far, c.out)
			pass(far, near, c.back)
		})
	}
}
