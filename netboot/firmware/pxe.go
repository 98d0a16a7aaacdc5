package firmware

import (
	"encoding/binary"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// Tags of option 43 (PXE 2.1 table 2-1).
const (
	pxeControl = 6
	pxeMenu    = 9
	pxeEnd     = 255

	pxeTypeLocal = 0
	// pxeFileWins is bit 3 of the control tag: boot the file, show no menu.
	pxeFileWins = 8
)

// choosePXE takes the first offer with an address that has PXE data of its own,
// else the first with a boot file. The classes with proxies and port 4011 are not
// simulated. A plain lease is no boot: EDK2 retries for 60 s.
func choosePXE(offers []*dhcpv4.DHCPv4) (choice, bool) {
	var file *dhcpv4.DHCPv4
	for _, o := range offers {
		if o.YourIPAddr.IsUnspecified() {
			continue
		}
		if isPXE(o) && (bootfile(o) != "" || offersLocalBoot(o)) {
			return choice{offer: o, uri: bootfile(o)}, true
		}
		if file == nil && bootfile(o) != "" {
			file = o
		}
	}
	if file == nil {
		return choice{}, false
	}
	return choice{offer: file, uri: bootfile(file)}, true
}

func bootfile(p *dhcpv4.DHCPv4) string {
	if s := optionString(p, dhcpv4.OptionBootfileName); s != "" {
		return s
	}
	return p.BootFileName
}

func isPXE(p *dhcpv4.DHCPv4) bool {
	return strings.HasPrefix(string(p.Options.Get(dhcpv4.OptionClassIdentifier)), prefixPXE)
}

// offersLocalBoot says that the offer's menu begins with an item of type 0, and
// that no boot file overrides the menu. EDK2 then gives up with PXE-E21.
func offersLocalBoot(p *dhcpv4.DHCPv4) bool {
	if !isPXE(p) {
		return false
	}
	tags := vendorTags(p.Options.Get(dhcpv4.OptionVendorSpecificInformation))
	if c := tags[pxeControl]; len(c) == 1 && c[0]&pxeFileWins != 0 && bootfile(p) != "" {
		return false
	}
	menu := tags[pxeMenu]
	return len(menu) >= 3 && binary.BigEndian.Uint16(menu) == pxeTypeLocal
}

// vendorTags reads option 43 as PXE fills it; what is cut off is dropped.
func vendorTags(b []byte) map[byte][]byte {
	tags := make(map[byte][]byte)
	for len(b) >= 2 && b[0] != pxeEnd {
		if b[0] == 0 {
			b = b[1:]
			continue
		}
		n := int(b[1])
		if len(b) < 2+n {
			break
		}
		tags[b[0]] = b[2 : 2+n]
		b = b[2+n:]
	}
	return tags
}
