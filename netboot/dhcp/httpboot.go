package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// httpBoot is UEFI 2.5 section 24.7.3: option 60 marks the offer, option 67 is
// the URI. `file` and siaddr are for loaders that read nothing else.
func httpBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, token, file string) error {
	base, err := netboot.BaseURL(seg)
	if err != nil {
		return err
	}
	p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixHTTPClient)
	setURL(p, seg, netboot.BootURL(base, token, file))
	return nil
}

// setURL writes the URL wherever a loader looks for it. `file` stays empty if it
// does not fit: half a URL is none.
func setURL(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, url string) {
	setBootfile(p, url)
	p.ServerIPAddr = seg.Address.AsSlice()
	if len(url) <= maxFile {
		p.BootFileName = url
	}
}

// Options that iPXE encapsulates in option 175.
const ipxeNoProxy = 0xb0 // 1: do not wait for a ProxyDHCP offer

// ipxeBoot gives iPXE a URL. With option 43 it sends its REQUEST at once; otherwise
// it waits 2 s for a ProxyDHCP offer.
func ipxeBoot(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, a protocol.BootAnswer) error {
	base, err := netboot.BaseURL(seg)
	if err != nil {
		return err
	}
	setURL(p, seg, netboot.BootURL(base, a.Token, a.File))
	pxeDirect(p)
	ipxeHurry(p)
	return nil
}

// ipxeHurry spares iPXE the wait for a ProxyDHCP offer, which could only bring a
// boot that we did not order. Without a file it returns to the firmware at once.
func ipxeHurry(p *dhcpv4.DHCPv4) {
	p.Options[optIPXE.Code()] = []byte{ipxeNoProxy, 1, 1}
}
