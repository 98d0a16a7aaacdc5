package inventory

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// An inventory too large for the store loses boot options first, and says so.
func TestInventoryFits(t *testing.T) {
	big := func(options, order int) *store.Inventory {
		sys := protocol.Inventory{SystemURI: "/redfish/v1/Systems/1", Interfaces: []protocol.Interface{{MAC: "02:00:00:00:00:01"}}}
		for range options {
			sys.BootOptions = append(sys.BootOptions, protocol.BootOption{Reference: "Boot0001", Kind: protocol.OptionDisk, Path: strings.Repeat("x", 1000)})
		}
		sys.BootOptions = append(sys.BootOptions, protocol.BootOption{Reference: "Boot0002", Kind: protocol.OptionPXE, MAC: "02:00:00:00:00:01"})
		for range order {
			sys.BootOptions = append(sys.BootOptions, protocol.BootOption{Reference: "Boot0003", Kind: protocol.OptionPXE, Path: strings.Repeat("x", 1000)})
		}
		return &store.Inventory{BMC: "b1", UID: "u", Systems: []protocol.Inventory{sys}}
	}
	for _, c := range []struct{ disks, nets, left, problems int }{{10, 10, 21, 0}, {300, 10, 11, 1}, {10, 300, 0, 2}} {
		v := big(c.disks, c.nets)
		fit(v)
		s := v.Systems[0]
		if v.Size() > store.MaxInventory || len(s.BootOptions) != c.left || len(s.Problems) != c.problems || len(s.Interfaces) != 1 {
			t.Errorf("%+v: %d bytes with %d options, problems %+v", c, v.Size(), len(s.BootOptions), s.Problems)
		}
	}
}

// Settings of firmware leave last, and it stays known that they were asked for.
func TestFirmwareFits(t *testing.T) {
	v := &store.Inventory{BMC: "b1", UID: "u"}
	for i := range maxSystems {
		f := &protocol.FirmwareSettings{Asked: []string{"A"}, BIOS: true}
		f.Attributes = []protocol.FirmwareAttribute{{Asked: "A", FirmwareValue: protocol.FirmwareValue{Name: "A", Value: strings.Repeat("x", 8<<10)}}}
		v.Systems = append(v.Systems, protocol.Inventory{SystemURI: fmt.Sprint("/redfish/v1/Systems/", i), Firmware: f})
	}
	fit(v)
	if f := v.Systems[0].Firmware; v.Size() > store.MaxInventory || f == nil || len(f.Asked) != 1 || f.BIOS || len(f.Attributes) > 0 {
		t.Errorf("%d bytes, %+v", v.Size(), f)
	}
}

// What an agent answers is what a BMC said.
func FuzzAnswerBody(f *testing.F) {
	f.Add([]byte(`[{"systemURI":"/redfish/v1/Systems/1","interfaces":[{"mac":"02:00:00:00:00:01"}]}]`))
	f.Add([]byte(`[{"systemURI":"/redfish/v1/Systems/1"},{"systemURI":"/redfish/v1/Systems/1"}]`))
	f.Add([]byte(`[] []`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := inventories(body)
		if (err == nil) == (len(list) == 0 || len(list) > maxSystems) {
			t.Fatalf("%d systems and %v", len(list), err)
		}
		if list, err := probes(body); (err == nil) == (len(list) == 0) {
			t.Fatalf("%d probes and %v", len(list), err)
		}
		if one, err := firmwareOf(body, "/redfish/v1/Systems/1"); err == nil && one.SystemURI != "/redfish/v1/Systems/1" {
			t.Fatalf("firmware of %q", one.SystemURI)
		}
		if _, err := firmwareOf(body, ""); err == nil {
			if list, err := listOf[protocol.Firmware](body); err != nil || len(list) != 1 {
				t.Fatalf("the only one of %d, %v", len(list), err)
			}
		}
	})
}
