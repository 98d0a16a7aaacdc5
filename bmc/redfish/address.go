package redfish

import (
	"net/netip"
	"net/url"
	"strings"

	"rackboot/protocol"
)

// rootURI is the service root's path (DSP0266 fixes it).
const rootURI = "/redfish/v1/"

// parseAddress checks a BMC's address: https://host[:port], or http with a
// loopback address. Errors do not repeat an address that carries credentials.
func parseAddress(address string) (*url.URL, error) {
	const op = "bmc.open"
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the BMC address is not a URL of scheme and host").
			WithHint("write https://host[:port]; credentials belong into the credentials of the BMC")
	}
	if u.Host == "" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "BMC address %q has no host, or more than scheme, host and port", address).
			WithHint("write https://host[:port]")
	}
	switch u.Scheme {
	case "https":
	case "http":
		// A name could resolve to anything, so only a literal address counts.
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "BMC address %q would send credentials unencrypted", address).
				WithHint("use https; http is accepted for 127.0.0.0/8 and ::1 only")
		}
	case "ipmi":
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "IPMI is not supported: %q", address).
			WithHint("enable Redfish on the BMC and write https://host[:port]")
	default:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "BMC address %q has an unknown scheme", address).
			WithHint("write https://host[:port]")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// checkURI accepts an absolute path on the BMC. A link to another host, which a
// BMC could name to get our credentials sent there, is refused.
func checkURI(uri string) error {
	u, err := url.Parse(uri)
	if err != nil || !strings.HasPrefix(uri, "/") || strings.HasPrefix(uri, "//") || u.Host != "" {
		return protocol.Errorf(protocol.CodeInvalid, "bmc.uri", "%.200q is not a path on the BMC", uri).
			WithHint("write a path such as /redfish/v1/Systems/1")
	}
	return nil
}

// isURI reports whether a BMC's word is the path of a resource.
func isURI(s string) bool { return strings.HasPrefix(s, "/redfish/") }

// sameURI compares paths as BMCs write them: with and without a slash at the
// end, and in other cases (HPE).
func sameURI(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// createdAt is the path of what an answer says was made. Location may be a whole
// URL; some BMCs give only the resource. It is empty if the answer names no path.
func createdAt(location string, body []byte) string {
	path := location
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		path = u.EscapedPath()
	}
	if path == "" {
		path = textOf(fields(body)["@odata.id"])
	}
	if checkURI(path) != nil {
		return ""
	}
	return path
}
