package site

import (
	"strings"
	"testing"
)

// A BMC is named by its address, or with a name of its own before it.
func TestParseHost(t *testing.T) {
	b, err := parseHost("10.6.0.21:8443", "r1", 3)
	if err != nil || b.Name != "r1-server-3" || b.Address != "https://10.6.0.21:8443" {
		t.Errorf("%+v, %v", b, err)
	}
	for _, text := range []string{"n1=", "N1=https://10.6.0.21", "https://10.6.0.21/redfish", "ipmi://10.6.0.21", strings.Repeat("n", 60) + "=https://10.6.0.21"} {
		if b, err := parseHost(text, "r1", 1); err == nil {
			t.Errorf("%q is taken as %+v", text, b)
		}
	}
}
