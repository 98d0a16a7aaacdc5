//go:build host

package alone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestNoAnswerDependsOnARemoteCall: with the hub gone and everything that the agent's
// host sends dropped, except onto the boot segment, a machine whose image is on disk
// boots by DHCP and HTTP, and by DHCP and TFTP. Not one packet is even tried: a call
// that is made and not waited for is one that somebody will wait for (P7).
func TestNoAnswerDependsOnARemoteCall(t *testing.T) {
	sum := sha256.Sum256(bootFile())
	want := hex.EncodeToString(sum[:])
	for _, tt := range []struct {
		boot   resource.FirstBoot
		target protocol.BootTarget
	}{
		{resource.FirstBootUefiHTTP, protocol.TargetUefiHTTP},
		{resource.FirstBootPxe, protocol.TargetPxe},
	} {
		t.Run(string(tt.boot), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
			defer cancel()
			n := newNetwork(ctx, t)
			ref := hear[string](start(t, n.world, childRegistry, nil))
			machine := start(t, n.machine, childMachine, nil)
			at := hear[machineAt](machine)
			agent := start(t, n.rack, childAgent, rackConfig{
				Dir: t.TempDir(), BMC: at, Image: ref, Boot: tt.boot,
				PoolFrom: netip.MustParseAddr("10.7.0.101"), PoolTo: netip.MustParseAddr("10.7.0.101"),
			})
			hear[string](agent)
			if got := hear[string](machine); got != string(tt.target) { // On only with the image on disk
				t.Fatalf("the machine boots %s", got)
			}
			agent.say("alone")
			hear[string](agent)
			n.cut(ctx)
			defer n.heal(ctx) // so that the agent can log out of the BMC
			machine.say("go")
			got := hear[booted](machine)
			if got.Err != "" || got.SHA256 != want {
				t.Errorf("booted %+v, want %s", got, want)
			}
			t.Logf("took %v", got.Took.Round(time.Millisecond))
			if packets := n.remote(ctx); packets != 0 {
				t.Errorf("%d packets were sent elsewhere; an answer must need nothing but the agent's disk", packets)
			}
		})
	}
}
