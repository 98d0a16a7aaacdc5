package rack

import (
	"errors"
	"net"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestPXE: a first boot by PXE loads the image's UKI by TFTP, counts as such, and a
// machine that nothing was ordered for is refused in PXE's own form.
func TestPXE(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	b.socket = socketPath(t)
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.BootPolicy.FirstBoot = resource.FirstBootPxe
	b.grant(0)
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	first := b.traceOf("the first boot", func(tr resource.Trace) bool {
		return tr.Intended == protocol.TargetPxe && tr.State == resource.AttemptSucceeded
	})
	if len(r.Provisioned) == 0 || first.Observed != protocol.TargetPxe {
		t.Errorf("provisioned %t, by %q", len(r.Provisioned) > 0, first.Observed)
	}
	b.booted(0, 1, 1)
	if _, _, _, inst := b.servers[0].Boots.Counts(); inst != 1 {
		t.Errorf("%d installations", inst)
	}
	if uki, _ := b.image.Artefact(resource.ArtefactUKI); b.servers[0].Disk.Digest() != uki.Digest {
		t.Errorf("installed %s, the image's UKI is %s", b.servers[0].Disk.Digest(), uki.Digest)
	}
	mac, err := net.ParseMAC(b.servers[1].MAC)
	if err != nil {
		t.Fatal(err)
	}
	other := firmware.Client{MAC: mac, Server: net.UDPAddrFromAddrPort(b.dhcp), TFTP: b.tftp, Speed: speed}
	if _, err := other.PXEBoot(t.Context()); !errors.Is(err, firmware.ErrLocalBoot) {
		t.Errorf("a machine that nothing was ordered for: %v", err)
	}
	b.until("the architecture that it said, though it was refused", 1, func(r resource.ServerReport) bool { return r.Architecture == "amd64" })
}

// TestNetworkAny: firmware that has PXE off and HTTP on, and whose BMC offers Pxe all the same (Lenovo XCC,
// facts G6), asks by HTTP under an order of Pxe. It is refused, and the report says so; with network any it
// is served by HTTP, and that is recorded as what it did.
func TestNetworkAny(t *testing.T) {
	t.Parallel()
	lenovo, ok := bmcsim.Preset("LenovoPxeOff")
	if !ok {
		t.Fatal("no preset LenovoPxeOff")
	}
	for _, network := range []resource.Network{"", resource.NetworkAny} {
		t.Run("network "+string(network), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, lenovo)
			b.socket = socketPath(t)
			a, _ := b.start(nil)
			b.claim(0)
			policy := &b.intents[0].Boot.BootPolicy
			policy.FirstBoot, policy.Network = resource.FirstBootPxe, network
			b.grant(0)
			b.send(a)
			if network == "" {
				b.until("asked by another method", 0, func(r resource.ServerReport) bool {
					c := r.Condition(resource.CondMethodMismatch)
					return c != nil && r.Attempt.Intended == protocol.TargetPxe && r.Attempt.Observed == protocol.TargetUefiHTTP
				})
				if _, _, _, inst := b.servers[0].Boots.Counts(); inst != 0 {
					t.Errorf("%d installations", inst)
				}
				return
			}
			b.until("the disk boot after the installation", 0, diskBoot)
			first := b.traceOf("the first boot", func(tr resource.Trace) bool {
				return tr.Intended == protocol.TargetPxe && tr.State == resource.AttemptSucceeded
			})
			if first.Observed != protocol.TargetUefiHTTP {
				t.Errorf("observed %s", first.Observed)
			}
			b.booted(0, 1, 1)
		})
	}
}
