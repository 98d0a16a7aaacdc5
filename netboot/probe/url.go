package probe

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"rackboot/netboot"
	"rackboot/protocol"
)

// baseOf is the base URL of the boot, as far as it is known without an address. What came
// through the BMC is before what a loader was told on the boot segment: a report by it is
// stronger evidence.
func baseOf(flag, drive string, arguments map[string]string) string {
	return cmp.Or(flag, drive, arguments[argumentURL])
}

// reportURL is where a state is reported to, below the base URL of a boot. The base
// has the boot's token in it, so no error says it.
func reportURL(base string, state protocol.ProbeState) (string, error) {
	const op = "find report URL"
	// DHCP option 67 may end in NUL (RFC 2132 section 2 forbids it, servers do it).
	u, err := url.Parse(strings.TrimRight(base, "\x00"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !strings.HasSuffix(u.Path, "/") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "the base URL is not http or https with a path that ends in a slash").
			WithHint("give the value of kernel argument " + argumentURL + " or of DHCP option 67 as it is")
	}
	return u.JoinPath(netboot.ReportPath, string(state)).String(), nil
}

// withoutURL is an error of the HTTP client without the URL, which has the token.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
