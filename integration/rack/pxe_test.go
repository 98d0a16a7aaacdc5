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
}
