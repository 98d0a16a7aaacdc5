package bootcert

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Names is what a certificate is for: the hosts of the segments' boot URLs.
type Names struct {
	Addrs []netip.Addr // at least one: boot URLs have IP literals
	DNS   []string     // whole names, no wildcards
}

// ParseNames sorts hosts into addresses and names. An invalid error says which is
// neither.
func ParseNames(hosts []string) (Names, error) {
	var n Names
	for _, h := range hosts {
		if a, err := netip.ParseAddr(h); err == nil && a.Zone() == "" {
			n.Addrs = append(n.Addrs, a.Unmap())
			continue
		}
		n.DNS = append(n.DNS, strings.ToLower(h))
	}
	slices.SortFunc(n.Addrs, netip.Addr.Compare)
	slices.Sort(n.DNS)
	n.Addrs, n.DNS = slices.Compact(n.Addrs), slices.Compact(n.DNS)
	return n, n.validate()
}

func (n Names) validate() error {
	const op = "boot certificate"
	if len(n.Addrs) == 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "no IP address to be for").
			WithHint("give the address of each segment's baseURL; firmware compares it with the certificate")
	}
	for _, a := range n.Addrs {
		if !a.IsValid() || a.IsUnspecified() || a.IsMulticast() {
			return protocol.Errorf(protocol.CodeInvalid, op, "%s is not an address that a server can have", a)
		}
	}
	for _, d := range n.DNS {
		if strings.Contains(d, "*") {
			return protocol.Errorf(protocol.CodeInvalid, op, "%s is a wildcard, which some firmware refuses", d).WithHint("name each host")
		}
		if len(d) > 253 || slices.ContainsFunc(strings.Split(d, "."), func(label string) bool { return !isLabel(label) }) {
			return protocol.Errorf(protocol.CodeInvalid, op, "%q is neither an IP address nor a host name", d)
		}
	}
	return nil
}

// isLabel follows RFC 1123 section 2.1.
func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') })
}

// List is all of them as text, addresses first.
func (n Names) List() []string {
	var out []string
	for _, a := range n.Addrs {
		out = append(out, a.String())
	}
	return append(out, n.DNS...)
}

// equal compares without regard to order.
func (n Names) equal(other Names) bool {
	a, b := n.List(), other.List()
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// ips are the addresses as iPAddress names, of four bytes for IPv4.
func (n Names) ips() []net.IP {
	var out []net.IP
	for _, a := range n.Addrs {
		out = append(out, a.AsSlice())
	}
	return out
}
