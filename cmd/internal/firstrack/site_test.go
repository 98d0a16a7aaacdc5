package firstrack

import (
	"net/netip"
	"testing"
)

func TestPool(t *testing.T) {
	for address, want := range map[string]string{
		"10.7.0.2/24":    "10.7.0.100-10.7.0.199",
		"10.7.3.2/16":    "10.7.3.100-10.7.3.199",
		"127.0.0.1/8":    "127.0.0.100-127.0.0.199",
		"10.7.0.100/24":  "10.7.0.101-10.7.0.199",
		"10.7.0.190/24":  "10.7.0.100-10.7.0.189",
		"10.7.0.66/26":   "10.7.0.96-10.7.0.126",
		"10.7.0.126/26":  "10.7.0.96-10.7.0.125",
		"10.7.0.9/29":    "10.7.0.12-10.7.0.14",
		"10.7.0.9/30":    "",
		"2001:db8::1/64": "",
	} {
		s := Site{Address: netip.MustParsePrefix(address)}
		from, to, err := s.Pool()
		got := ""
		if err == nil {
			got = from.String() + "-" + to.String()
			if a := s.Address.Addr(); !s.Address.Contains(from) || !s.Address.Contains(to) || !a.Less(from) && !to.Less(a) {
				t.Errorf("%s: %s has the agent's own address, or leaves the network", address, got)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
