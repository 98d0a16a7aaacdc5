package metal3

import (
	"testing"

	"rackboot/protocol/resource"
)

// The forms of bmc.address in metal3's documentation of supported hardware, and what is none.
func TestAddress(t *testing.T) {
	for _, row := range []struct {
		in, address, path string
		first             resource.FirstBoot
		ok                bool
	}{
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "https://192.0.2.1", "/redfish/v1/Systems/1", "", true},
		{"redfish+https://bmc.example:8443/redfish/v1/Systems/1/", "https://bmc.example:8443", "/redfish/v1/Systems/1", "", true},
		{"redfish+http://192.0.2.1:8000/redfish/v1/Systems/a-b", "http://192.0.2.1:8000", "/redfish/v1/Systems/a-b", "", true},
		{"redfish-virtualmedia://192.0.2.1", "https://192.0.2.1", "", resource.FirstBootVirtualMedia, true},
		{"redfish-virtualmedia+http://[2001:db8::1]:8000/", "http://[2001:db8::1]:8000", "", resource.FirstBootVirtualMedia, true},
		{"idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/System.Embedded.1", "https://192.0.2.1", "/redfish/v1/Systems/System.Embedded.1", resource.FirstBootVirtualMedia, true},
		{"ilo5-virtualmedia://192.0.2.1", "https://192.0.2.1", "", resource.FirstBootVirtualMedia, true},
		{"redfish-uefihttp://192.0.2.1", "https://192.0.2.1", "", resource.FirstBootUefiHTTP, true},
		{"idrac-redfish://192.0.2.1", "https://192.0.2.1", "", "", true},
		{"ipmi://192.0.2.1:6233", "ipmi://192.0.2.1:6233", "", "", false},
		{"192.0.2.1:6233", "ipmi://192.0.2.1:6233", "", "", false},
		{"idrac://192.0.2.1", "idrac://192.0.2.1", "", "", false},
		{"irmc://192.0.2.1", "irmc://192.0.2.1", "", "", false},
		{"redfish+ssh://192.0.2.1", "redfish://192.0.2.1", "", "", false},
		{"redfish://root:secret@192.0.2.1", "", "", "", false},
		{"redfish://192.0.2.1?x=1", "", "", "", false},
		{"redfish://", "", "", "", false},
		{"", "", "", "", false},
	} {
		address, first, ok := Address(row.in)
		if address != row.address || first != row.first || ok != row.ok {
			t.Errorf("Address(%q) = %q, %q, %v", row.in, address, first, ok)
		}
		if path := SystemPath(row.in); ok && path != row.path {
			t.Errorf("SystemPath(%q) = %q", row.in, path)
		}
	}
}
