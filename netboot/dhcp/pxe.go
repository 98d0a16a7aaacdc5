package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Tags of option 43 for PXE clients (PXE 2.1 table 2-1).
const (
	pxeDiscoveryControl = 6
	pxeBootServers      = 8
	pxeBootMenu         = 9
	pxeMenuPrompt       = 10
	pxeEnd              = 255
)

// Bits of pxeDiscoveryControl.
const (
	pxeNoBroadcast = 1
	pxeNoMulticast = 2
	pxeBootfile    = 8 // no menu, no boot server: load the file of this offer
)

// pxeDirect tells a PXE client to load the file of this offer. Without option 43 an
// offer of PXEClient sends EDK2 to port 4011 of the server.
func pxeDirect(p *dhcpv4.DHCPv4) {
	p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixPXEClient)
	p.Options[dhcpv4.OptionVendorSpecificInformation.Code()] = []byte{pxeDiscoveryControl, 1, pxeBootfile, pxeEnd}
}

// pxeBoot is an offer that EDK2 puts before those of all other servers (Pxe10).
func pxeBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, a protocol.BootAnswer) error {
	if err := tftpBoot(p, seg, a); err != nil {
		return err
	}
	pxeDirect(p)
	return nil
}

// tftpBoot names the file by option 67 and by `file`, and the server by siaddr. Each
// is the only one that some client reads: shim finds its second file by `file` and
// siaddr of the ACK alone, EDK2 reads neither option 66 nor sname. Option 13 is not
// sent: EDK2 would take it for the size instead of asking.
func tftpBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, a protocol.BootAnswer) error {
	path := netboot.TFTPPath(a.Token, a.File)
	if len(path) > maxFile {
		return protocol.Errorf(protocol.CodeUnsupported, "DHCP reply", "TFTP path has %d bytes, and the field for it %d", len(path), maxFile).
			WithHint("give the boot file a shorter name")
	}
	setBootfile(p, path)
	p.BootFileName = path
	p.ServerIPAddr = seg.Address.AsSlice()
	return nil
}

// piBoot is for a Raspberry Pi: it takes an offer whose boot menu has its text, and
// the TFTP server from option 66, not from siaddr. It knows the names of its files
// itself and asks for them below its serial number.
func piBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, a protocol.BootAnswer) error {
	if err := tftpBoot(p, seg, a); err != nil {
		return err
	}
	v := []byte{pxeDiscoveryControl, 1, pxeNoBroadcast | pxeNoMulticast, pxeMenuPrompt, 4, 0}
	v = append(v, "PXE"...)
	v = append(v, pxeBootMenu, byte(3+len(piText)), 0, 0, byte(len(piText)))
	v = append(v, piText...)
	p.Options[dhcpv4.OptionVendorSpecificInformation.Code()] = append(v, pxeEnd)
	p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixPXEClient)
	p.Options[dhcpv4.OptionTFTPServerName.Code()] = []byte(seg.Address.String())
	return nil
}

// localBoot refuses a PXE client by a boot menu whose only item has type 0,
// "boot from local disk", and whose prompt times out at once. EDK2 gives up with
// PXE-E21 and tries the next boot option 3.6 s after its first DISCOVER; a lease
// without boot data costs 60 s.
func localBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent) {
	ip := seg.Address.As4()
	v := []byte{pxeDiscoveryControl, 1, pxeNoBroadcast | pxeNoMulticast}
	v = append(v, pxeMenuPrompt, 4, 0) // timeout 0: take the first item
	v = append(v, "PXE"...)
	v = append(v, pxeBootServers, 7, 0, 0, 1)
	v = append(v, ip[:]...)
	v = append(v, pxeBootMenu, 8, 0, 0, 5)
	v = append(v, "Local"...)
	v = append(v, pxeEnd)
	p.Options[dhcpv4.OptionVendorSpecificInformation.Code()] = v
	p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixPXEClient)
	p.ServerIPAddr = seg.Address.AsSlice()
}
