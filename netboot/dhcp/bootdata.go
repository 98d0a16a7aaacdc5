package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// bootData adds to an OFFER or ACK what the answer says, in the form that the
// client's class understands. Where a boot cannot be served in the client's own
// form, the client is refused in it: a plain lease would cost it 60 s.
func bootData(p *dhcpv4.DHCPv4, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer) error {
	if a.Action == protocol.AnswerLease {
		reportURL(p, r, seg, a)
		return nil
	}
	switch r.class {
	case protocol.ClassHTTPClient:
		token, file := netboot.RefusedToken, netboot.RefusedFile
		if a.Action == protocol.AnswerBoot {
			token, file = a.Token, a.File
		}
		return httpBoot(p, seg, token, file)
	case protocol.ClassPXEClient:
		localBoot(p, seg)
	case protocol.ClassIPXE:
		// A lease without boot data: iPXE returns to the firmware at once.
	case protocol.ClassNone:
		reportURL(p, r, seg, a)
	}
	return nil
}

// httpBoot is UEFI 2.5 section 24.7.3: option 60 marks the offer, option 67 is
// the URI. `file` and siaddr are for loaders that read nothing else.
func httpBoot(p *dhcpv4.DHCPv4, seg protocol.SegmentIntent, token, file string) error {
	base, err := netboot.BaseURL(seg)
	if err != nil {
		return err
	}
	url := netboot.BootURL(base, token, file)
	p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixHTTPClient)
	setBootfile(p, url)
	p.ServerIPAddr = seg.Address.AsSlice()
	if len(url) <= maxFile {
		p.BootFileName = url
	}
	return nil
}

// setBootfile writes option 67 with a NUL: EDK2 overwrites the byte after the
// value with one, and old ROMs read on to the next.
func setBootfile(p *dhcpv4.DHCPv4, value string) {
	p.Options[dhcpv4.OptionBootfileName.Code()] = append([]byte(value), 0)
}

// Tags of option 43 for PXE clients (PXE 2.1 table 2-1).
const (
	pxeDiscoveryControl = 6
	pxeBootServers      = 8
	pxeBootMenu         = 9
	pxeMenuPrompt       = 10
	pxeEnd              = 255
)

// localBoot refuses a PXE client by a boot menu whose only item has type 0,
// "boot from local disk", and whose prompt times out at once. EDK2 gives up with
// PXE-E21 and tries the next boot option 3.6 s after its first DISCOVER; a lease
// without boot data costs 60 s.
func localBoot(p *dhcpv4.DHCPv4, seg protocol.SegmentIntent) {
	ip := seg.Address.As4()
	v := []byte{pxeDiscoveryControl, 1, 3} // neither broadcast nor multicast discovery
	v = append(v, pxeMenuPrompt, 4, 0)     // timeout 0: take the first item
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

// reportURL tells an installer in the booted image where to report: option 67,
// when it asks for it and the attempt is open. Boot ROMs never get it, they would
// try to boot from it. An operating system keeps its lease without it.
func reportURL(p *dhcpv4.DHCPv4, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer) {
	if a.Token == "" || r.class != protocol.ClassNone || !r.wants(dhcpv4.OptionBootfileName) {
		return
	}
	if base, err := netboot.BaseURL(seg); err == nil {
		setBootfile(p, netboot.BootURL(base, a.Token, ""))
	}
}
