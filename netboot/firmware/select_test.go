package firmware

import (
	"net"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestChoose is EDK2's order of offer classes (HttpBootDhcp4.c): offers arrive in
// the order of the row, and the number of the one whose address is used and the
// URI are compared.
func TestChoose(t *testing.T) {
	const byIP, byName = "http://10.0.0.1/b.efi", "http://boot.example/b.efi"
	offer := func(class, uri string, dns, addr bool) *dhcpv4.DHCPv4 {
		p := &dhcpv4.DHCPv4{YourIPAddr: net.IPv4zero.To4(), Options: dhcpv4.Options{}}
		if addr {
			p.YourIPAddr = net.IPv4(10, 0, 0, 9).To4()
		}
		if class != "" {
			p.Options[60] = []byte(class)
		}
		if uri != "" {
			p.Options[67] = append([]byte(uri), 0)
		}
		if dns {
			p.Options[6] = []byte{10, 0, 0, 1}
		}
		return p
	}
	plain, plainDNS := offer("", "", false, true), offer("", "", true, true)
	ip, ipDNS := offer("HTTPClient", byIP, false, true), offer("HTTPClient", byIP, true, true)
	named, namedDNS := offer("HTTPClient", byName, false, true), offer("HTTPClient", byName, true, true)
	proxyIP, proxyName := offer("HTTPClient", byIP, false, false), offer("HTTPClient", byName, false, false)
	pxeProxy := offer("PXEClient", "", false, false)
	inFile := offer("HTTPClient", "", false, true)
	inFile.BootFileName = byIP
	for _, row := range []struct {
		name    string
		bootURI string
		offers  []*dhcpv4.DHCPv4
		want    int // -1 is none
		uri     string
	}{
		{"none", "", nil, -1, ""},
		{"1: address and IP URI", "", []*dhcpv4.DHCPv4{plainDNS, namedDNS, ip}, 2, byIP},
		{"first received wins", "", []*dhcpv4.DHCPv4{ip, ipDNS}, 0, byIP},
		{"URI in `file`", "", []*dhcpv4.DHCPv4{inFile}, 0, byIP},
		{"2: name URI and DNS in the same offer", "", []*dhcpv4.DHCPv4{plainDNS, namedDNS}, 1, byName},
		{"name URI without DNS is not usable alone", "", []*dhcpv4.DHCPv4{named}, -1, ""},
		{"3: plain address and a proxy's IP URI", "", []*dhcpv4.DHCPv4{proxyIP, plain}, 1, byIP},
		{"5: address with DNS and a proxy's name URI", "", []*dhcpv4.DHCPv4{plain, proxyName, plainDNS}, 2, byName},
		{"a proxy's name URI without DNS", "", []*dhcpv4.DHCPv4{plain, proxyName}, -1, ""},
		{"6: address with DNS and another offer's name URI", "", []*dhcpv4.DHCPv4{named, plainDNS}, 1, byName},
		{"plain lease", "", []*dhcpv4.DHCPv4{plainDNS}, -1, ""},
		{"PXE proxy's offer is dropped", "", []*dhcpv4.DHCPv4{pxeProxy}, -1, ""},
		{"HTTP offer without a URI is dropped", "", []*dhcpv4.DHCPv4{offer("HTTPClient", "", true, true)}, -1, ""},
		{"TFTP path in place of a URI is dropped", "", []*dhcpv4.DHCPv4{offer("HTTPClient", "boot/shim.efi", true, true)}, -1, ""},
		{"URI of the BMC: plain with DNS beats our IP URI with DNS", byName, []*dhcpv4.DHCPv4{ipDNS, plainDNS}, 1, byName},
		{"URI of the BMC: DNS beats no DNS", byName, []*dhcpv4.DHCPv4{ip, plain, ipDNS}, 2, byName},
		{"URI of the BMC: a plain lease will do", byName, []*dhcpv4.DHCPv4{plain}, 0, byName},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, ok := choose(row.offers, row.bootURI)
			if ok != (row.want >= 0) {
				t.Fatalf("chosen: %v", ok)
			}
			if ok && (got.offer != row.offers[row.want] || got.uri != row.uri) {
				t.Errorf("chose another offer, or URI %q", got.uri)
			}
		})
	}
}

func TestVendorTags(t *testing.T) {
	for name, row := range map[string]struct {
		value string
		menu  string
	}{
		"refusal (cap-local)": {"\x06\x01\x03\x0a\x04\x00PXE\x08\x07\x00\x00\x01\x0a\x63\x00\x01\x09\x08\x00\x00\x05Local\xff", "\x00\x00\x05Local"},
		"padding":             {"\x00\x00\x09\x01x", "x"},
		"after the end":       {"\xff\x09\x01x", ""},
		"cut off":             {"\x09\x05x", ""},
		"empty":               {"", ""},
	} {
		if got := string(vendorTags([]byte(row.value))[pxeMenu]); got != row.menu {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzReply: no reply makes the client panic.
func FuzzReply(f *testing.F) {
	p := &dhcpv4.DHCPv4{YourIPAddr: net.IPv4(10, 0, 0, 9), Options: dhcpv4.Options{60: []byte("HTTPClient"), 67: []byte("http://10.0.0.1/x\x00"), 6: {1, 2, 3, 4}}}
	f.Add(p.ToBytes())
	p.Options[60], p.Options[43] = []byte("PXEClient"), []byte{9, 3, 0, 0, 0}
	f.Add(p.ToBytes())
	f.Fuzz(func(_ *testing.T, raw []byte) {
		p, err := dhcpv4.FromBytes(raw)
		if err != nil {
			return
		}
		choose([]*dhcpv4.DHCPv4{p, p}, "")
		choose([]*dhcpv4.DHCPv4{p}, "http://10.0.0.1/")
		choosePXE([]*dhcpv4.DHCPv4{p})
		choosePlain([]*dhcpv4.DHCPv4{p})
		leaseOf(p)
	})
}
