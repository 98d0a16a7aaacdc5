package redfish

import (
	"testing"

	"rackboot/protocol"
)

// What BIOS attributes and boot options say of a way to boot. A way is off only where a switch says so
// and nothing says otherwise.
func TestSwitched(t *testing.T) {
	pxe, generic := protocol.BootOption{Kind: protocol.OptionPXE, MAC: "02:00:00:00:00:01"}, protocol.BootOption{Kind: protocol.OptionPXE, Name: "Network"}
	away := protocol.BootOption{Kind: protocol.OptionPXE, MAC: "02:00:00:00:00:01", Disabled: true}
	for name, row := range map[string]struct {
		set     attributes
		options []protocol.BootOption
		want    protocol.BootOffer
	}{
		"nothing is known":                    {nil, nil, protocol.BootOffer{Is: protocol.OfferedYes}},
		"Supermicro, on":                      {attributes{"IPv4PXESupport_00F4": "Enabled", "IPv6PXESupport_00F6": "Disabled"}, nil, protocol.BootOffer{Is: protocol.OfferedYes}},
		"Supermicro, off":                     {attributes{"IPv4PXESupport_00F4": "Disabled", "IPv6PXESupport_00F6": "Disabled"}, nil, protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4PXESupport_00F4", Value: "Disabled", Want: "Enabled"}},
		"Lenovo, off (G6)":                    {attributes{"NetworkStackSettings_IPv4PXESupport": "Disabled"}, nil, protocol.BootOffer{Is: protocol.OfferedOff, Setting: "NetworkStackSettings_IPv4PXESupport", Value: "Disabled", Want: "Enabled"}},
		"off, and an option of no interface":  {attributes{"IPv4PXESupport": "Disabled"}, []protocol.BootOption{generic}, protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4PXESupport", Value: "Disabled", Want: "Enabled"}},
		"off, and an option all the same":     {attributes{"NetworkStackSettings_IPv4PXESupport": "Disabled"}, []protocol.BootOption{pxe}, protocol.BootOffer{Is: protocol.OfferedYes}},
		"off, and an option that is disabled": {attributes{"IPv4PXESupport": "Disabled"}, []protocol.BootOption{away}, protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4PXESupport", Value: "Disabled", Want: "Enabled"}},
		"the whole stack is off":              {attributes{"NetworkStack_00F3": "Disabled", "IPv4PXESupport_00F4": "Enabled"}, nil, protocol.BootOffer{Is: protocol.OfferedOff, Setting: "NetworkStack_00F3", Value: "Disabled", Want: "Enabled"}},
		"Dell, the second device":             {attributes{"PxeDev1EnDis": "Disabled", "PxeDev2EnDis": "Enabled"}, nil, protocol.BootOffer{Is: protocol.OfferedYes}},
		"a value that nobody knows":           {attributes{"IPv4PXESupport": "OnlyOnTuesdays"}, nil, protocol.BootOffer{Is: protocol.OfferedYes}},
	} {
		if got := switched(row.options, protocol.OptionPXE, row.set); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
