package sim

import (
	"context"
	"net"
	"os/exec"
	"sync"
	"testing"
)

// TestAwaitFree: a listener that was closed can be opened again at its address, however
// many children are forked meanwhile. Without the wait some hundredths of these fail.
func TestAwaitFree(t *testing.T) {
	addrs, err := FreeAddresses("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	// The first child of a process is a trial of package os's own, past syscall.ForkLock.
	if err := exec.Command("true").Run(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var forks sync.WaitGroup
	defer forks.Wait()
	defer close(stop)
	for range 2 {
		forks.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 300 {
		if err := AwaitFree(t.Context(), addrs...); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", addrs[0].String())
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

// TestAwaitFreeEnds: who listens is named once the time is over.
func TestAwaitFreeEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AwaitFree(ctx, l.Addr().(*net.TCPAddr).AddrPort()); err == nil {
		t.Error("a taken address is free")
	}
}
