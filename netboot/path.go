package netboot

import (
	"net/netip"
	"net/url"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// RefusedToken is the token of the URL that a refused UEFI HTTP client gets. It
// is never the token of an attempt, and is answered 404 at once: the quickest
// way on to the next boot option (3.8 s, against 60 s for silence).
const RefusedToken = "refused"

// RefusedFile is the file of that URL. The ending matters: firmware looks at it
// before the status.
const RefusedFile = "refused.efi"

// PathPrefix begins the path of every boot URL: /b/{token}/{file}. Identity is
// in the path and never in a query, because shim and GRUB build the names of
// their next files from the path and lose the query.
const PathPrefix = "/b/"

// EventPrefix begins the path that BMCs send events to: /e/{token}.
const EventPrefix = "/e/"

// ReportPath follows the base URL in the URL that a booted image POSTs its report to:
// <base>report/{state}, or <base>report with the state in the body.
const ReportPath = "report"

// BaseURL is the scheme and authority of the segment's boot URLs. The host is an
// IP literal: firmware cannot resolve a name unless option 6 came in the same
// offer, and a loader started by it often not even then. A BaseURL that is
// malformed or names a host is an invalid error.
func BaseURL(seg resource.SegmentIntent) (string, error) {
	if seg.BaseURL == "" {
		return "http://" + seg.Address.String(), nil
	}
	u, err := url.Parse(seg.BaseURL)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.RawQuery == "" && u.Fragment == "" && (u.Path == "" || u.Path == "/") {
		if _, err = netip.ParseAddr(u.Hostname()); err == nil {
			return u.Scheme + "://" + u.Host, nil
		}
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "boot URL", "baseURL of segment %s is not scheme and IP address", seg.Name).
		WithHint("write baseURL as http://ADDRESS:PORT in the Segment; firmware cannot be relied on to resolve names")
}

// BaseURL6 is that of a segment's IPv6 side, its host an IPv6 literal in brackets: a
// client that boots over IPv6 has no other addresses. A base that it could not load
// from is an invalid error.
func BaseURL6(segment string, seg resource.SegmentIPv6Intent) (string, error) {
	if seg.BaseURL == "" {
		return "http://[" + seg.Address.String() + "]", CheckHost6(segment, seg.Address)
	}
	base, err := BaseURL(resource.SegmentIntent{Name: segment, BaseURL: seg.BaseURL})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, "boot URL", "base URL of segment %s: %w", segment, err)
	}
	host, _ := netip.ParseAddr(u.Hostname()) // zero if malformed, and then refused
	return base, CheckHost6(segment, host)
}

// CheckHost6 refuses, as invalid, a host of boot URLs that firmware cannot load from
// over IPv6.
func CheckHost6(segment string, a netip.Addr) error {
	if a.Is6() && !a.Is4In6() && a.Zone() == "" && !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified() {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalid, "boot URL", "boot URLs of segment %s for IPv6 would have the host %q", segment, a).
		WithHint("give the segment's IPv6 service an address of the agent that is not link-local, and a base URL such as http://[2001:db8::1]:8080 or none")
}

// BaseURLFor is the base of the address family that a client asks by: of IPv6 where
// its address is, else of IPv4. A client of IPv6 on a segment that has no IPv6 side is
// a not_found error.
func BaseURLFor(seg resource.SegmentIntent, client netip.Addr) (string, error) {
	switch {
	case !client.Unmap().Is6():
		return BaseURL(seg)
	case seg.IPv6 == nil:
		return "", protocol.Errorf(protocol.CodeNotFound, "boot URL", "segment %s has no IPv6 side", seg.Name).
			WithHint("give the Segment spec.ipv6, or let its machines boot over IPv4")
	}
	return BaseURL6(seg.Name, *seg.IPv6)
}

// BootURL is the URL of a file of an attempt. An empty file gives the base that
// a booted image appends report/installed to.
func BootURL(base, token, file string) string {
	return base + (&url.URL{Path: PathPrefix + token + "/" + file}).EscapedPath()
}

// TFTPPath is the path of a file of an attempt for clients that load by TFTP: that
// of its boot URL without the first slash, because some firmware asks for the name
// as it is and some puts one before it.
func TFTPPath(token, file string) string {
	return strings.TrimPrefix(PathPrefix, "/") + token + "/" + file
}
