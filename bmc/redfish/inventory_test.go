package redfish_test

import (
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
)

func inventory(t *testing.T, r *rig) protocol.Inventory {
	t.Helper()
	inv, err := r.driver.(bmc.Inventorier).Inventory(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Problems) > 0 {
		t.Errorf("problems %+v", inv.Problems)
	}
	return inv
}

// What identifies a server, by the shape of each vendor; the preset names the
// dump or report.
func TestPresetsInventory(t *testing.T) {
	tests := []struct {
		preset   string
		system   string
		macs     string
		internal int
		uuid     bool // identifies the server
		safeStop protocol.SafeStopClass
	}{
		{"MACsInBootOptions", "/redfish/v1/Systems/System_0", "02:00:00:00:00:07", 0, true, protocol.SafeStopNetworkFirst},
		{"HPEInterfaces", "/redfish/v1/Systems/1", "02:00:00:00:0a:03", 0, true, protocol.SafeStopNetworkFirst},
		{"ToManager", "/redfish/v1/Systems/1", "02:00:00:00:00:04", 1, false, protocol.SafeStopNetworkFirst},
		{"NullUUID", "/redfish/v1/Systems/Bluefield", "02:00:00:00:00:08", 0, false, protocol.SafeStopNetworkFirst},
		{"LenovoNoUefiHttp", "/redfish/v1/Systems/1", "02:00:00:00:00:05", 1, true, protocol.SafeStopNetworkFirst},
		{"DellModeJob", "/redfish/v1/Systems/System.Embedded.1", "02:00:00:00:00:02", 0, true, protocol.SafeStopNetworkFirst},
		{"EmptyManager", "/redfish/v1/Systems/DGX", "02:00:00:00:00:06", 1, true, protocol.SafeStopUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			inv := inventory(t, preset(t, tt.preset))
			macs, internal := inv.MACs(), 0
			for _, n := range inv.Interfaces {
				if n.Internal != "" {
					internal++
				}
			}
			if inv.SystemURI != tt.system || !slices.Contains(macs, tt.macs) || internal != tt.internal {
				t.Errorf("%s has %v, %d internal; want %s, %s, %d", inv.SystemURI, macs, internal, tt.system, tt.macs, tt.internal)
			}
			if (inv.UUIDProblem == "") != tt.uuid {
				t.Errorf("UUID %q: %q", inv.UUID, inv.UUIDProblem)
			}
			// Only Dell's shape says that Secure Boot is off: elsewhere nothing is promised.
			if inv.SafeStop.Class != tt.safeStop {
				t.Errorf("safe stop %+v", inv.SafeStop)
			}
		})
	}
}

func TestEmptyMACsAreNone(t *testing.T) {
	for _, mac := range inventory(t, preset(t, "EmptyMAC")).MACs() {
		if len(mac) != 17 {
			t.Errorf("MAC %q", mac)
		}
	}
}

// The alias says UefiHttp and Usb; the device paths say otherwise.
func TestAliasesAreNotBelieved(t *testing.T) {
	for _, o := range inventory(t, preset(t, "WrongAlias")).BootOptions {
		if o.Reference == "Boot0003" && o.Kind != protocol.OptionPXE || strings.Contains(o.Name, "PXE") && o.Kind == protocol.OptionHTTP {
			t.Errorf("boot option %+v", o)
		}
	}
}

// LastResetTime is of use only where it is a time.
func TestPresetsDetection(t *testing.T) {
	for name, want := range map[string]protocol.DetectionClass{
		"LastResetAbsent": protocol.DetectPoll, "LastResetZero": protocol.DetectEvents, "LastReset1970": protocol.DetectEvents, "Plain": protocol.DetectReset,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			r.reset(t, bmc.ResetOn) // after which there is a time to show
			r.await(t, protocol.PowerOn)
			got := inventory(t, r).Detection
			if got.Class != want || got.PollInterval <= 0 || got.Reason == "" {
				t.Errorf("%+v, want %s", got, want)
			}
		})
	}
}

// AMI and Lenovo TSM take no override while the fixed boot order is on.
func TestFixedBootOrder(t *testing.T) {
	r := preset(t, "AMIFixedOrder")
	patchRaw(t, r, "/redfish/v1/Systems/Self/Oem/Ami/FixedBootOrder", `{"FixedBootOrder":"Enabled"}`)
	got, err := r.setBoot(t, once("Pxe"))
	wantCode(t, err, protocol.CodeUnsupported)
	if got.Outcome != bmc.BootUnsupported {
		t.Errorf("%+v", got)
	}
}
