package sim

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"rackboot/bmc/sim/hardware"
)

// TestPortIsKept: a BMC that was away listens where it did, whatever is started meanwhile: a
// child has a copy of each socket until it runs its program. Who asks for a port of tests is
// not given that of a BMC that is away.
func TestPortIsKept(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	var forks sync.WaitGroup
	for range 4 {
		forks.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run() // it may be ended
			}
		})
	}
	defer forks.Wait()
	defer cancel()
	for n := range 300 {
		for _, r := range []Reach{ReachRefused, ReachOK} {
			if err := u.bmc.SetReach(r); err != nil {
				t.Fatalf("time %d, %s: %v", n, r, err)
			}
		}
	}
	if err := u.bmc.SetReach(ReachRefused); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(u.bmc.Address(), "https://"), ":")
	if l, err := net.Listen("tcp", net.JoinHostPort(markAddress, port)); err == nil {
		_ = l.Close()
		t.Error("its port is not marked")
	}
}
