package redfish_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// preset is a simulated BMC as somebody reported one. Its address is that of no
// host without redirects; names that are gone fail.
func preset(t *testing.T, name string) *rig {
	t.Helper()
	p, ok := sim.Preset(name)
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	return newRig(t, p)
}

func (r *rig) setBoot(t *testing.T, want protocol.Override) (bmc.BootResult, error) {
	t.Helper()
	ctx := deadline(t)
	return r.driver.SetBoot(ctx, want)
}

func once(target protocol.BootTarget) protocol.Override {
	return protocol.Override{Target: target, Enabled: protocol.OverrideOnce, Mode: "UEFI"}
}

// Each row arms a server, off, behind a BMC that somebody reported; the preset
// names the report.
func TestPresetsArm(t *testing.T) {
	const (
		self     = "/redfish/v1/Systems/1"
		settings = "/redfish/v1/Systems/1/Settings"
		dell     = "/redfish/v1/Systems/System.Embedded.1"
	)
	tests := []struct {
		preset string
		target protocol.BootTarget
		want   bmc.BootOutcome
		where  string
		code   protocol.Code
	}{
		{"DellModeJob", "Pxe", bmc.BootStored, dell, ""},
		{"Dell13G", "Pxe", bmc.BootStored, dell, ""},
		{"DellShowsUefiTarget", "Pxe", bmc.BootAliased, dell, ""},
		{"DellShowsUefiTarget", "Hdd", bmc.BootStored, dell, ""},
		{"HPEEnabledWithoutTarget", "UefiHttp", bmc.BootStored, self, ""},
		{"HPEModeReadOnly", "UefiHttp", bmc.BootStored, self, ""},
		{"HPEGen9ModeHidden", "UefiHttp", bmc.BootStored, self, ""},
		{"HPERefusesPxe", "Pxe", bmc.BootUnsupported, "", protocol.CodeUnsupported},
		{"HPERefusesPxe", "UefiHttp", bmc.BootStored, self, ""},
		{"HPERefusesURI", "UefiHttp", bmc.BootStored, self, ""},
		{"SupermicroReverts", "UefiHttp", bmc.BootStored, self, ""},
		{"SupermicroModeReverts", "UefiHttp", bmc.BootReverted, self, protocol.CodeUnsupported},
		{"SupermicroForgets", "UefiHttp", bmc.BootReverted, self, ""},
		{"SupermicroShowsBootNext", "Pxe", bmc.BootAliased, self, ""},
		{"SupermicroURI", "UefiHttp", bmc.BootStored, self, ""},
		{"MediaUsbCd", "Cd", bmc.BootAliased, self, ""}, // written as UsbCd
		{"X10NoMode", "Pxe", bmc.BootStored, self, ""},
		{"X10NoMode", "UefiHttp", bmc.BootUnsupported, "", protocol.CodeUnsupported},
		{"LenovoNoContinuous", "Pxe", bmc.BootStored, self, ""},
		{"LenovoNoUefiHttp", "UefiHttp", bmc.BootUnsupported, "", protocol.CodeUnsupported},
		{"ASRockNeedsAll", "Pxe", bmc.BootStored, settings, ""},
		{"CiscoNoMode", "Pxe", bmc.BootStored, "/redfish/v1/Systems/FCH00000000", ""},
		{"IBMNoOverride", "Pxe", bmc.BootUnsupported, "", protocol.CodeUnsupported},
		{"KubevirtContinuous", "Pxe", bmc.BootCoercedContinuous, self, ""},
		{"DropsOverride", "Pxe", bmc.BootDropped, self, ""},

		{"IDRAC10Settings", "Pxe", bmc.BootStored, dell + "/Settings", ""},
		{"DellSettingsOrderOnly", "Pxe", bmc.BootStored, dell, ""},
		{"NokiaSettings", "UefiHttp", bmc.BootStored, settings, ""},
		{"GB200Settings", "Pxe", bmc.BootStored, "/redfish/v1/Systems/System_0/Settings", ""},
		{"GB200Settings", "UefiHttp", bmc.BootUnsupported, "", protocol.CodeUnsupported},
		{"BlueFieldTargets", "UefiHttp", bmc.BootStored, "/redfish/v1/Systems/Bluefield", ""},
		{"BlueFieldTargets", "Pxe", bmc.BootStored, "/redfish/v1/Systems/Bluefield/Settings", ""},
		{"AMINextReset", "UefiHttp", bmc.BootPendingReset, "/redfish/v1/Systems/Self/SD", ""},
		{"AMINeedsMatch", "Pxe", bmc.BootPendingReset, "/redfish/v1/Systems/Self/SD", ""},
		{"DGXSettings", "Pxe", bmc.BootPendingReset, "/redfish/v1/Systems/DGX/SD", ""},
		{"FujitsuOEM", "Pxe", bmc.BootStored, "/redfish/v1/Systems/0/Oem/ts_fujitsu/BootConfig", ""},

		{"GH200Settings", "Pxe", bmc.BootStored, "/redfish/v1/Systems/System_0/Settings", ""},
		{"GH200Settings", "UefiHttp", bmc.BootUnsupported, "", protocol.CodeUnsupported}, // in neither list
		{"LenovoPxeOff", "Pxe", bmc.BootStored, self, ""},                                // what firmware makes of it is TestPxeOff

		{"ETagLenovo", "Pxe", bmc.BootStored, self, ""},
		{"ETagGzip", "Pxe", bmc.BootStored, self, ""},
		{"ETagEmpty", "Pxe", bmc.BootStored, self, ""},
		{"ETagDoubled", "Pxe", bmc.BootStored, self, ""},
		{"ETagStrongOnly", "Pxe", bmc.BootStored, self, ""},
		{"ETagNoneOnly", "Pxe", bmc.BootStored, self, ""},
		{"ETagChanging", "Pxe", bmc.BootStored, self, ""},
		{"ETagAbsent", "Pxe", bmc.BootStored, dell, ""},
		{"ETagGigabyte", "Pxe", bmc.BootRefusedByState, "", protocol.CodeConflict}, // until newer firmware

		{"SlashRedirect", "Pxe", bmc.BootStored, self, ""},
		{"H2Only", "Pxe", bmc.BootStored, self, ""},
		{"OldTLS", "Pxe", bmc.BootStored, self, ""},
		{"SessionNoLink", "Pxe", bmc.BootStored, self, ""},
		{"WrongTypes", "Pxe", bmc.BootStored, "/redfish/v1/Systems/FCH00000000", ""},
	}
	for _, tt := range tests {
		t.Run(tt.preset+" "+string(tt.target), func(t *testing.T) {
			t.Parallel()
			r := preset(t, tt.preset)
			got, err := r.setBoot(t, once(tt.target))
			wantCode(t, err, tt.code)
			if got.Outcome != tt.want || got.Where != tt.where {
				t.Fatalf("outcome %s at %q, want %s at %q; %+v", got.Outcome, got.Where, tt.want, tt.where, got)
			}
			if !got.Outcome.OK() {
				if got.Text == "" {
					t.Error("nothing is said about it")
				}
				return
			}
			if got.Stored.Target != tt.target || got.Stored.Enabled != protocol.OverrideOnce {
				t.Errorf("stored %+v", got.Stored)
			}
			// What the next poll shows is the same override, in the same words.
			o, err := r.driver.Observe(deadline(t))
			if err != nil || o.Override != got.Stored {
				t.Errorf("observed %+v, stored %+v, %v", o.Override, got.Stored, err)
			}
			// And it can be cleared.
			got, err = r.setBoot(t, protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled})
			if err != nil || got.Outcome != bmc.BootStored || got.Stored.Armed() {
				t.Errorf("disarmed: %+v, %v", got, err)
			}
			if o, err = r.driver.Observe(deadline(t)); err != nil || o.Override.Armed() {
				t.Errorf("observed after it %+v, %v", o.Override, err)
			}
			for _, h := range r.bmc.Hosts() {
				if h.Override().Armed() {
					t.Errorf("the BMC still holds %+v", h.Override())
				}
			}
		})
	}
}

// What was armed is what firmware takes, and then it is gone from the reads.
func TestPresetsConsume(t *testing.T) {
	for _, name := range []string{
		"DellModeJob", "DellShowsUefiTarget", "HPEEnabledWithoutTarget", "SupermicroReverts", "X10NoMode", "CiscoNoMode",
		"IDRAC10Settings", "GB200Settings", "BlueFieldTargets", "AMINextReset", "DGXSettings", "FujitsuOEM", "LenovoNoContinuous",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			// Not Hdd, which a BIOS job boots too; no network answers, so it ends in the shell.
			result, err := r.setBoot(t, once(protocol.TargetPxe))
			if err != nil || !result.Outcome.OK() {
				t.Fatalf("%+v, %v", result, err)
			}
			r.reset(t, bmc.ResetOn)
			r.awaitMachine(t, hardware.Shell)
			var consumed []string
			for _, h := range r.bmc.History() {
				if h.What == sim.RecordConsumed {
					consumed = append(consumed, h.Detail)
				}
			}
			if !slices.Equal(consumed, []string{"Pxe"}) {
				t.Errorf("firmware took %q", consumed)
			}
			if o, err := r.driver.Observe(deadline(t)); err != nil || o.Override.Armed() {
				t.Errorf("observed %+v, %v", o.Override, err)
			}
		})
	}
}

// A change that passes with time is Busy and nothing else.
func TestPresetsBusy(t *testing.T) {
	for name, reason := range map[string]string{
		"PostRefuses": "iLO.2.37.UnableToModifyDuringSystemPOST", "AMIBusyInBoot": "", "IDRACNotReady": "",
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := sim.Preset(name)
			if !ok {
				t.Fatal("no such preset")
			}
			p.PowerOnDelay = time.Hour // PoweringOn counts as POST
			r := newRig(t, p)
			r.reset(t, bmc.ResetOn)
			got, err := r.setBoot(t, once(protocol.TargetPxe))
			var busy *bmc.Busy
			if !errors.As(err, &busy) || reason != "" && busy.Reason != reason {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Outcome != bmc.BootRefusedByState {
				t.Errorf("outcome %s", got.Outcome)
			}
		})
	}
}

// A URI that somebody left would be booted instead of DHCP's: it goes with the
// arming.
func TestLeftURIIsCleared(t *testing.T) {
	r := preset(t, "SupermicroURI")
	patchRaw(t, r, "/redfish/v1/Systems/1", `{"Boot":{"HttpBootUri":"http://192.0.2.1/left"}}`)
	got, err := r.setBoot(t, once(protocol.TargetUefiHTTP))
	if err != nil || got.Outcome != bmc.BootStored {
		t.Fatalf("%+v, %v", got, err)
	}
	if body := getRaw(t, r, "/redfish/v1/Systems/1"); bytes.Contains(body, []byte("192.0.2.1")) {
		t.Errorf("the URI is still there: %s", body)
	}
}

// A BMC that keeps the URI would boot it: the arming is an error, and the error
// does not show the URI, in which somebody's token may be.
func TestLeftURIThatStays(t *testing.T) {
	target, enabled := "None", "Disabled"
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			target, enabled = "UefiHttp", "Once"
		}
		fmt.Fprintf(w, `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":%q,"BootSourceOverrideEnabled":%q,"HttpBootUri":"http://192.0.2.1/left"}}`, target, enabled)
	}))
	_, err := d.SetBoot(deadline(t), once(protocol.TargetUefiHTTP))
	wantCode(t, err, protocol.CodeUnsupported)
	wantText(t, err, "HttpBootUri")
	if bytes.Contains([]byte(err.Error()), []byte("192.0.2.1")) {
		t.Errorf("the URI is shown: %v", err)
	}
}

// Each tree of the simulator can be probed: nothing of it is an error, the JSON
// is the same each time, and nothing is written.
func TestPresetsProbe(t *testing.T) {
	for _, name := range []string{
		"Plain", "Baseboard", "DellModeJob", "DellSettingsOrderOnly", "IDRAC10Settings", "DellHTTPTLS", "HPEModeReadOnly", "RegistriesNeedGzip",
		"SupermicroReverts", "SupermicroURI", "X10NoMode", "LenovoNoUefiHttp", "CiscoNoMode", "IBMNoOverride", "NokiaSettings", "FujitsuOEM",
		"AMINextReset", "DGXSettings", "GB200Settings", "BlueFieldTargets", "EmptyMAC", "WrongTypes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			probe := func() []byte {
				got, err := r.driver.(bmc.Prober).Probe(deadline(t), "")
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Inventory.Problems) > 0 {
					t.Errorf("problems %+v", got.Inventory.Problems)
				}
				b, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			if diff := cmp.Diff(string(probe()), string(probe())); diff != "" {
				t.Error(diff)
			}
			if name == "DGXSettings" && !bytes.Contains(probe(), []byte(`"media":{"supported":true`)) {
				t.Error("the media of a manager that names no system are not found")
			}
			if h := r.bmc.History(); len(h) != 0 {
				t.Errorf("a probe did %v", h)
			}
		})
	}
}

// A BMC that speaks badly costs an error, and no more.
func TestPresetsOnTheWire(t *testing.T) {
	for name, code := range map[string]protocol.Code{
		"RedirectsAway": protocol.CodeUnavailable, "EndlessSystems": protocol.CodeUnavailable,
		"HugeBody": protocol.CodeUnavailable, "BrokenJSON": protocol.CodeUnavailable,
	} {
		t.Run(name, func(t *testing.T) {
			r := preset(t, name)
			o, err := r.driver.Observe(deadline(t))
			wantCode(t, err, code)
			if o.Power != protocol.PowerUnknown || protocol.HintOf(err) == "" {
				t.Errorf("observation %+v", o)
			}
		})
	}
}

// The session ends at the BMC: one new login, and the request goes through.
func TestSessionIsRenewedOnce(t *testing.T) {
	r := preset(t, "SessionEnds")
	r.await(t, protocol.PowerOff)
	r.bmc.SetCredentials(username, password) // which ends all sessions
	r.await(t, protocol.PowerOff)
	r.bmc.SetCredentials(username, "changed")
	for range 3 {
		_, err := r.driver.Observe(deadline(t))
		wantCode(t, err, protocol.CodeDenied)
	}
	r.bmc.SetCredentials(username, password)
	_, err := r.driver.Observe(deadline(t))
	wantCode(t, err, protocol.CodeDenied) // not tried before the pause
}

// Wrong passwords block the client after three: one is all that is tried.
func TestPasswordsAreNotTriedTwice(t *testing.T) {
	r := preset(t, "PasswordsBlock")
	wrong := target(r.bmc)
	wrong.Credentials.Password = "wrong"
	d := open(t, redfish.Config{}, wrong)
	for range 5 {
		_, err := d.Observe(deadline(t))
		wantCode(t, err, protocol.CodeDenied)
	}
	r.await(t, protocol.PowerOff) // the right one still works
}
