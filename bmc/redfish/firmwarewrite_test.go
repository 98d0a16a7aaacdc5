package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

func writeFirmware(t *testing.T, r *rig, changes ...protocol.FirmwareChange) (string, error) {
	t.Helper()
	out, err := r.driver.(bmc.FirmwareWriter).WriteFirmware(deadline(t), changes)
	var words []string
	for _, w := range out {
		words = append(words, w.Setting+"="+string(w.Outcome))
	}
	return strings.Join(words, " "), err
}

// to is a change of a plan.
func to(where, wanted string) protocol.FirmwareChange {
	return protocol.FirmwareChange{Setting: where, Where: where, Wanted: wanted}
}

// patches counts the requests that were to change something.
func patches(r *rig) (n int) {
	for _, q := range r.bmc.Requests() {
		if q.Method == http.MethodPatch {
			n++
		}
	}
	return n
}

// Of each vendor, attributes are written at the settings, wait for a reset, are not written twice, and
// are in force after it.
func TestFirmwareConforms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ preset, name, value string }{
		{"DellOwnJob", "AcPwrRcvry", "Off"},
		{"DellHTTPDevice", "HttpDev1EnDis", "Enabled"},
		{"HPEModeReadOnly", "UefiShellBootOrder", "Enabled"},
		{"SupermicroHTTPOff", "IPv4HTTPSupport_00F5", "Enabled"},
		{"LenovoNoContinuous", "NetworkStackSettings_IPv4HTTPSupport", "Enabled"},
		{"AMINextReset", "SETUP001", "Disabled"},
		{"AMINeedsMatch", "SETUP001", "Disabled"},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, tt.preset)
			for range 2 {
				if got, err := writeFirmware(t, r, to(tt.name, tt.value)); err != nil || got != tt.name+"=waits" {
					t.Fatalf("%s, %v", got, err)
				}
			}
			f := readFirmware(t, r.driver, tt.name)
			if a := f.Attributes; len(a) != 1 || a[0].Value == tt.value || a[0].Waits != tt.value {
				t.Errorf("before the reset %+v", a)
			}
			wrote := patches(r)
			r.reset(t, bmc.ResetOn)
			r.await(t, protocol.PowerOn)
			f = readFirmware(t, r.driver, tt.name)
			if a := f.Attributes; len(a) != 1 || a[0].Value != tt.value || a[0].Waits != "" {
				t.Errorf("after the reset %+v", a)
			}
			if got, err := writeFirmware(t, r, to(tt.name, tt.value)); err != nil || got != tt.name+"=in-force" {
				t.Errorf("%s, %v", got, err)
			}
			if n := patches(r); n != wrote {
				t.Errorf("%d writes after it was in force", n-wrote)
			}
		})
	}
}

// A Dell takes one job: what is for another resource is left for the next pass, and what waits of somebody
// else is a conflict.
func TestFirmwareOneJob(t *testing.T) {
	t.Parallel()
	r := preset(t, "DellSecureBootConflict")
	changes := []protocol.FirmwareChange{to("SecureBootEnable", "On"), to("AcPwrRcvry", "Off")}
	if got, err := writeFirmware(t, r, changes...); err != nil || got != "AcPwrRcvry=waits SecureBootEnable=later" {
		t.Fatalf("%s, %v", got, err)
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	// This BMC does not show what waits of Secure Boot.
	if got, err := writeFirmware(t, r, changes...); err != nil || got != "AcPwrRcvry=in-force SecureBootEnable=unseen" {
		t.Fatalf("%s, %v", got, err)
	}
	_, err := writeFirmware(t, r, to("AcPwrRcvry", "On"))
	wantCode(t, err, protocol.CodeConflict)
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerOff)
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	if f := readFirmware(t, r.driver); f.SecureBoot == nil || !f.SecureBoot.Enabled {
		t.Errorf("Secure Boot %+v", f.SecureBoot)
	}
}

// A second change while a job waits is a conflict, and nothing else is written.
func TestFirmwareJobWaits(t *testing.T) {
	t.Parallel()
	r := preset(t, "DellOwnJob")
	if _, err := writeFirmware(t, r, to("AcPwrRcvry", "Off")); err != nil {
		t.Fatal(err)
	}
	got, err := writeFirmware(t, r, to("AcPwrRcvry", "On"))
	wantCode(t, err, protocol.CodeConflict)
	if got != "" {
		t.Errorf("%s", got)
	}
}

// The order goes where the BMC has it; the restore policy is in force at once.
func TestFirmwareOrder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SupermicroHTTPOff", "AMINextReset", "LenovoNoContinuous"} {
		r := preset(t, name)
		order := readFirmware(t, r.driver).BootOrder
		slices.Reverse(order)
		change := protocol.FirmwareChange{Setting: "bootOrder", Where: "Boot.BootOrder", Order: order}
		if got, err := writeFirmware(t, r, change); err != nil || got != "bootOrder=waits" {
			t.Errorf("%s: %s, %v", name, got, err)
			continue
		}
		if got := readFirmware(t, r.driver).BootOrder; !slices.Equal(got, order) {
			t.Errorf("%s: %v, want %v", name, got, order)
		}
	}
	r := preset(t, "RestoresLastState")
	for _, want := range []protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreAlwaysOff} {
		if got, err := writeFirmware(t, r, to("PowerRestorePolicy", string(want))); err != nil || got != "PowerRestorePolicy=in-force" {
			t.Errorf("%s, %v", got, err)
		}
		if got := readFirmware(t, r.driver).Restore; got.Policy != want {
			t.Errorf("restore %+v", got)
		}
	}
}

// What has a hindrance is not written, and of a vendor whose settings nobody knows nothing is.
func TestFirmwareNotWritten(t *testing.T) {
	t.Parallel()
	r := preset(t, "DellOwnJob")
	hindered := to("AcPwrRcvry", "Off")
	hindered.Hindrance = protocol.FirmwareReadOnly
	if got, err := writeFirmware(t, r, hindered); err != nil || got != "" || patches(r) != 0 {
		t.Errorf("%s, %v, %d writes", got, err, patches(r))
	}
	other := preset(t, "RestoresPower") // OpenBMC
	_, err := writeFirmware(t, other, to("PowerRestorePolicy", "AlwaysOn"))
	wantCode(t, err, protocol.CodeUnsupported)
	if protocol.HintOf(err) == "" || patches(other) != 0 {
		t.Error(fmt.Errorf("%w, %d writes", err, patches(other)))
	}
}

// A URL of HTTP boot as a profile wants it is planned, written, and in force after as many resets as the vendor needs:
// what is within Dell's device is written when that is on.
func TestFirmwareHTTPURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		preset, url string
		passes      []string // what became of the changes, before each reset
	}{
		{"DellHTTPDevice", "http://10.7.0.1:8080/x.efi", []string{"HttpDev1Uri=later HttpDev1EnDis=waits", "HttpDev1Uri=waits"}},
		{"DellHTTPTLS", "http://10.7.0.1:8080/x.efi", []string{"HttpDev1Uri=later HttpDev1EnDis=waits HttpDev1TlsMode=later", "HttpDev1Uri=waits HttpDev1TlsMode=waits"}},
		{"DellDPUs", "https://10.7.0.1/x.efi", []string{"HttpDev1Uri=waits HttpDev1TlsMode=waits"}},
		{"HPEModeReadOnly", "http://10.7.0.1:8080/x.efi", []string{"UrlBootFile=waits"}},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, tt.preset)
			want := resource.FirmwareProfileSpec{HTTPURL: &tt.url}
			for _, became := range tt.passes {
				changes := settings.Plan(want, readFirmware(t, r.driver))
				for i := range changes {
					if changes[i].Setting != "httpURL" || changes[i].Hindrance != "" {
						t.Errorf("%+v", changes[i])
					}
					changes[i].Setting = changes[i].Where
				}
				for range 2 {
					if got, err := writeFirmware(t, r, changes...); err != nil || got != became {
						t.Fatalf("%q, want %q, %v", got, became, err)
					}
				}
				r.reset(t, bmc.ResetOn)
				r.await(t, protocol.PowerOn)
				r.reset(t, bmc.ResetForceOff)
				r.await(t, protocol.PowerOff)
			}
			f := readFirmware(t, r.driver)
			if left := settings.Plan(want, f); len(left) > 0 || f.HTTPURL.Value != tt.url {
				t.Errorf("%q, and left is %+v", f.HTTPURL.Value, left)
			}
		})
	}
	for _, name := range []string{"SupermicroHTTPOff", "LenovoNoContinuous", "AMINextReset"} {
		url := "http://h/x"
		c := settings.Plan(resource.FirmwareProfileSpec{HTTPURL: &url}, readFirmware(t, preset(t, name).driver))
		if len(c) != 1 || c[0].Hindrance != protocol.FirmwareNotShown {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// A safe stop that a profile wants is planned from what the BMC shows, written, and then it is the class that is
// reported of the server.
func TestFirmwareSafeStop(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SupermicroHTTPOff", "LenovoNoContinuous", "DellShowsUefiTarget", "HPEModeReadOnly"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			shown := readFirmware(t, r.driver)
			last := slices.Clone(shown.BootOrder)
			slices.SortStableFunc(last, func(a, b string) int { return networkLast(shown, a) - networkLast(shown, b) })
			if got, err := writeFirmware(t, r, protocol.FirmwareChange{Setting: "bootOrder", Where: "Boot.BootOrder", Order: last}); err != nil || got != "bootOrder=waits" {
				t.Fatalf("%s, %v", got, err)
			}
			want := resource.FirmwareProfileSpec{SafeStop: protocol.SafeStopNetworkFirst}
			changes := settings.Plan(want, readFirmware(t, r.driver))
			if got, err := writeFirmware(t, r, changes...); err != nil || got != "safeStop=waits" {
				t.Fatalf("%s of %+v, %v", got, changes, err)
			}
			if left := settings.Plan(want, readFirmware(t, r.driver)); len(left) > 0 {
				t.Errorf("left is %+v", left)
			}
			inv, err := r.driver.(bmc.Inventorier).Inventory(deadline(t))
			if err != nil || inv.SafeStop.Class != protocol.SafeStopNetworkFirst {
				t.Errorf("%+v, %v", inv.SafeStop, err)
			}
		})
	}
}

func networkLast(f protocol.Firmware, ref string) int {
	for _, o := range f.BootOptions {
		if o.Reference == ref && (o.Kind == protocol.OptionPXE || o.Kind == protocol.OptionHTTP) {
			return 1
		}
	}
	return 0
}
