package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

// The behaviour of net.Conn, as the Go project tests its own.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		a, b := Pipe("a", "b")
		return a, b, func() { _ = a.Close(); _ = b.Close() }, nil
	})
}

func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen("broker")
		near, err := l.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		// Both write first: with net.Pipe this hangs.
		big := bytes.Repeat([]byte("x"), bufferSize)
		if _, err := near.Write(big); err != nil {
			t.Fatal(err)
		}
		if _, err := far.Write(big); err != nil {
			t.Fatal(err)
		}
		// The buffer is full: the next write waits for its deadline.
		start := time.Now()
		_ = near.SetWriteDeadline(start.Add(time.Minute))
		if _, err := near.Write([]byte("y")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		l.Freeze()
		if _, err := far.Write([]byte("lost")); err != nil {
			t.Error(err)
		}
		if n, _ := io.ReadFull(near, make([]byte, bufferSize)); n != bufferSize {
			t.Errorf("%d bytes before the freeze", n)
		}
		_ = near.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := near.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read %d, %v after the freeze", n, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Dial(context.Background()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Error(err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestCutEndsBothSides(t *testing.T) {
	l := Listen("broker")
	defer l.Close()
	near, err := l.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.Cut()
	if _, err := near.Read(make([]byte, 1)); err == nil {
		t.Error("near end still reads")
	}
	if _, err := far.Write([]byte("x")); err == nil {
		t.Error("far end still writes")
	}
	if l.Dials() != 1 {
		t.Error(l.Dials())
	}
}
