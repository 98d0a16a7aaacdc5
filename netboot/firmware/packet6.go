package firmware

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
)

const (
	// maxMessage6 is HTTP_BOOT_DHCP6_PACKET_MAX_SIZE.
	maxMessage6 = 1472
	// enterpriseUEFI is the enterprise number of option 16 (UEFI 2.5 section 24.7).
	enterpriseUEFI = 343

	duidUUID, duidLL = 4, 3 // RFC 6355, RFC 8415 section 11.4
	hardwareEthernet = 1
)

// requested is option 6 of EDK2's HTTP client, in its order.
func requested() []dhcpv6.OptionCode {
	return []dhcpv6.OptionCode{dhcpv6.OptionBootfileURL, dhcpv6.OptionBootfileParam, dhcpv6.OptionDNSRecursiveNameServer, dhcpv6.OptionVendorClass}
}

// duid is the DUID of EDK2: made of the SMBIOS UUID, else of the MAC address
// (PcdDhcp6UidType 4). An operating system has another one.
func (c *Client) duid(firmware bool) []byte {
	if firmware && c.UUID != [16]byte{} {
		return append([]byte{0, duidUUID}, c.UUID[:]...)
	}
	return append([]byte{0, duidLL, 0, hardwareEthernet}, c.MAC...)
}

// exchange6 is what stays the same in one exchange of DHCPv6.
type exchange6 struct {
	duid  []byte
	iaid  [4]byte // EDK2 makes it of the time
	class string  // empty for an operating system
	arch  uint16
}

func (c *Client) newExchange6(class string) exchange6 {
	x := exchange6{duid: c.duid(class != ""), class: class, arch: c.Arch}
	if x.arch == 0 {
		x.arch = ArchX64HTTP
	}
	_, _ = rand.Read(x.iaid[:]) // never fails
	return x
}

// packet is a message with a new transaction ID (RFC 8415 section 16.1). Of the lease
// it names what is not empty.
func (x exchange6) packet(kind dhcpv6.MessageType, server []byte, addr netip.Addr) []byte {
	var xid [3]byte
	_, _ = rand.Read(xid[:]) // never fails
	var o dhcpv6.Options
	add := func(code dhcpv6.OptionCode, v []byte) {
		o.Add(&dhcpv6.OptionGeneric{OptionCode: code, OptionData: v})
	}
	add(dhcpv6.OptionClientID, x.duid)
	if len(server) > 0 {
		add(dhcpv6.OptionServerID, server)
	}
	ia := &dhcpv6.OptIANA{IaId: x.iaid}
	if addr.IsValid() {
		ia.Options.Add(&dhcpv6.OptIAAddress{IPv6Addr: addr.AsSlice()})
	}
	o.Add(ia)
	var oro []byte
	for _, code := range requested() {
		oro = binary.BigEndian.AppendUint16(oro, uint16(code))
	}
	add(dhcpv6.OptionORO, oro)
	if x.class != "" {
		add(dhcpv6.OptionNII, undi())
		add(dhcpv6.OptionClientArchType, binary.BigEndian.AppendUint16(nil, x.arch))
		o.Add(&dhcpv6.OptVendorClass{
			EnterpriseNumber: enterpriseUEFI, Data: [][]byte{fmt.Appendf(nil, "%s:Arch:%05d:UNDI:003000", x.class, x.arch)},
		})
	}
	return append([]byte{byte(kind), xid[0], xid[1], xid[2]}, o.ToBytes()...)
}

// offer6 is an ADVERTISE or a REPLY as EDK2's HttpBootDhcp6.c reads it.
type offer6 struct {
	server []byte
	addr   netip.Addr // zero of what EDK2 takes for a proxy's
	http   bool       // option 16 has HTTPClient
	uri    string     // option 59 up to the next zero byte, wherever that is
	dns    bool
	raw    []byte
}

// read6 reads a server's message; ok is false for what is not one to the exchange, or
// what EDK2 drops.
func (x exchange6) read(raw []byte, kind dhcpv6.MessageType, xid []byte) (o offer6, ok bool) {
	const header = 4
	if len(raw) < header || len(raw) > maxMessage6 || raw[0] != byte(kind) || string(raw[1:header]) != string(xid) {
		return o, false
	}
	o.raw = raw
	var client []byte
	for at := header; at+header <= len(raw); {
		code, n := dhcpv6.OptionCode(binary.BigEndian.Uint16(raw[at:])), int(binary.BigEndian.Uint16(raw[at+2:]))
		at += header
		if at+n > len(raw) {
			return o, false
		}
		data := raw[at : at+n]
		switch code {
		case dhcpv6.OptionClientID:
			client = data
		case dhcpv6.OptionServerID:
			o.server = data
		case dhcpv6.OptionIANA:
			o.addr = leased6(data)
		case dhcpv6.OptionVendorClass:
			const enterpriseAndLength = 6
			o.http = n >= enterpriseAndLength+len(prefixHTTP) && string(data[enterpriseAndLength:enterpriseAndLength+len(prefixHTTP)]) == prefixHTTP
		case dhcpv6.OptionBootfileURL:
			// EDK2 takes it as a string that a zero byte ends. That is the next option's
			// code, if there is one; else what the memory held.
			o.uri = cString(raw[at:])
		case dhcpv6.OptionDNSRecursiveNameServer:
			o.dns = true
		default: // EDK2 reads no other
		}
		at += n
	}
	return o, string(client) == string(x.duid) && len(o.server) > 0 && (!o.http || o.uri != "")
}

// cString is what there is before a zero byte. Without one firmware reads on into
// memory: what it finds is no URL.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b) + "\xff"
}

// leased6 is the address of an IA_NA whose status is success; zero if there is none.
func leased6(data []byte) netip.Addr {
	var ia dhcpv6.OptIANA
	if ia.FromBytes(data) != nil {
		return netip.Addr{}
	}
	if st := ia.Options.Status(); st != nil && st.StatusCode != iana.StatusSuccess {
		return netip.Addr{}
	}
	for _, a := range ia.Options.Addresses() {
		if a.ValidLifetime > 0 {
			addr, _ := netip.AddrFromSlice(a.IPv6Addr) // zero if malformed
			return addr
		}
	}
	return netip.Addr{}
}
