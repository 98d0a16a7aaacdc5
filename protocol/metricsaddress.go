package protocol

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// MaxMetricsAddress is the longest address of a metrics page, in bytes: a DNS name, a colon and a port.
const MaxMetricsAddress = 253 + 1 + 5

// MetricsAddress is the host and port of a metrics page as others reach it: a DNS name, an IPv4 address, or an IPv6 address in
// brackets and without a zone.
type MetricsAddress string

// Check reports what is wrong with it. An address that every host has, 0.0.0.0 or ::, is none that others reach. Errors: invalid.
func (m MetricsAddress) Check() error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalid, "read the address of a metrics page", format, args...).WithHint("give host:port as Prometheus reaches it, such as agent-a1.example.com:9641")
	}
	if len(m) > MaxMetricsAddress {
		return bad("it has %d bytes, and %d at most", len(m), MaxMetricsAddress)
	}
	host, port, err := net.SplitHostPort(string(m))
	if err != nil || net.JoinHostPort(host, port) != string(m) { // such as a name in brackets
		return bad("%q is not host:port", string(m))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return bad("%q has no port of 1 to 65535", string(m))
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		switch {
		case ip.Zone() != "":
			return bad("%q has a zone, which counts on one host only", string(m))
		case ip.IsUnspecified() || ip.IsMulticast():
			return bad("%q is no address of one host", string(m))
		}
		return nil
	}
	if !isHostName(host) {
		return bad("%q names no host", string(m))
	}
	return nil
}

// Elsewhere reports whether other hosts reach the address: it is not one that each host has for itself.
func (m MetricsAddress) Elsewhere() bool {
	host, _, err := net.SplitHostPort(string(m))
	if err != nil || m.Check() != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() || err != nil && !strings.EqualFold(host, "localhost")
}

// isHostName reports whether s is written as a name of a host (RFC 1123 section 2.1), with a last label that is no number, so
// that what looks like an address is one.
func isHostName(s string) bool {
	labels := strings.Split(s, ".")
	for i, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			return false
		}
		if i == len(labels)-1 && strings.Trim(l, "0123456789") == "" {
			return false
		}
	}
	return len(s) <= 253
}
