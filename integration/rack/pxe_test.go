package rack

import (
	"errors"
	"net"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// TestPXE: a first boot by PXE loads the image's UKI by TFTP, counts as such, and a
// machine that nothing was ordered for is refused in PXE's own form.
func TestPXE(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Policy.FirstBoot = protocol.FirstBootPxe
	b.grant(0)
	b.send(a)
	seen := protocol.BootTarget("")
	r := b.until("the disk boot after the installation", 0, func(r protocol.ServerReport) bool {
		if r.Attempt != nil && r.Attempt.Intended == protocol.TargetPxe && r.Attempt.Observed != "" {
			seen = r.Attempt.Observed
		}
		return diskBoot(r)
	})
	if len(r.Provisioned) == 0 || seen != protocol.TargetPxe {
		t.Errorf("provisioned %t, by %q", len(r.Provisioned) > 0, seen)
	}
	if n, d, _, inst := b.servers[0].Boots.Counts(); n != 1 || d != 1 || inst != 1 {
		t.Errorf("boots: %d network, %d disk, %d installations", n, d, inst)
	}
	if uki, _ := b.image.Artefact(protocol.ArtefactUKI); b.servers[0].Disk.Digest() != uki.Digest {
		t.Errorf("installed %s, the image's UKI is %s", b.servers[0].Disk.Digest(), uki.Digest)
	}
	mac, err := net.ParseMAC(b.servers[1].MAC)
	if err != nil {
		t.Fatal(err)
	}
	other := firmware.Client{MAC: mac, Server: net.UDPAddrFromAddrPort(b.dhcp), TFTP: b.tftp, Speed: 100}
	if _, err := other.PXEBoot(t.Context()); !errors.Is(err, firmware.ErrLocalBoot) {
		t.Errorf("a machine that nothing was ordered for: %v", err)
	}
}
