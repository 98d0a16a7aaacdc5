package redfish_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// The body is minimal: what is not needed breaks some BMC.
func TestSetBootBody(t *testing.T) {
	type body map[string]map[string]string
	once := protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce}
	tests := []struct {
		name string
		boot string // of the system
		want protocol.Override
		body body
	}{
		{
			"mode is UEFI already (iDRAC 9, metal-operator #81)", `"BootSourceOverrideMode":"UEFI"`, once,
			body{"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}},
		},
		{
			"mode differs", `"BootSourceOverrideMode":"Legacy"`, once,
			body{"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once", "BootSourceOverrideMode": "UEFI"}},
		},
		{
			"no mode (Supermicro X10, metal-operator #982)", `"BootSourceOverrideTarget":"None"`, once,
			body{"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}},
		},
		{
			"null mode (DGX)", `"BootSourceOverrideMode":null`, once,
			body{"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}},
		},
		{
			"disarm", `"BootSourceOverrideMode":"Legacy"`,
			protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled},
			body{"Boot": {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got body
			var match string
			target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					b, _ := io.ReadAll(r.Body)
					if err := json.Unmarshal(b, &got); err != nil {
						t.Error(err)
					}
					match = r.Header.Get("If-Match")
				}
				if e := r.Header.Get("Accept-Encoding"); e != "identity" {
					t.Errorf("Accept-Encoding is %q", e)
				}
				w.Header().Set("ETag", `W/"7"`)
				fmt.Fprintf(w, `{"PowerState":"Off","Boot":{"HttpBootUri":"","BootOrder":["a"],%s}}`, tt.boot)
			})
			if _, err := open(t, redfish.Config{}, target).SetBoot(deadline(t), tt.want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.body, got); diff != "" {
				t.Error(diff)
			}
			if match != `W/"7"` {
				t.Errorf("If-Match is %q", match)
			}
		})
	}
}

// The reset types of an ActionInfo are read once, and one that cannot be read
// does not block a reset.
func TestActionInfo(t *testing.T) {
	var infos, resets int
	broken := true
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/info" && broken:
			infos++
			fmt.Fprint(w, `[]`)
		case r.URL.Path == "/info":
			infos++
			fmt.Fprint(w, `{"Parameters":["odd",{"Name":"ResetType","AllowableValues":["On"]}]}`)
		case r.Method == http.MethodPost:
			resets++
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, `{"PowerState":"Off","Actions":{"#ComputerSystem.Reset":{"target":"/reset","@Redfish.ActionInfo":"/info"}}}`)
		}
	})
	d := open(t, redfish.Config{}, target)
	wantCode(t, d.Reset(deadline(t), "On"), "")
	broken = false
	wantCode(t, d.Reset(deadline(t), "On"), "")
	wantCode(t, d.Reset(deadline(t), "On"), "")
	wantCode(t, d.Reset(deadline(t), "ForceOff"), protocol.CodeUnsupported)
	if infos != 2 || resets != 3 {
		t.Errorf("%d reads of the ActionInfo, %d resets", infos, resets)
	}
}

func TestNotOfferedIsUnsupported(t *testing.T) {
	var writes int
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			writes++
		}
		fmt.Fprint(w, `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget@Redfish.AllowableValues":["None","Pxe"]},
			"Actions":{"#ComputerSystem.Reset":{"target":"/reset","ResetType@Redfish.AllowableValues":["PowerCycle"]}}}`)
	})
	d := open(t, redfish.Config{}, target)
	_, err := d.SetBoot(deadline(t), protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce})
	wantCode(t, err, protocol.CodeUnsupported)
	wantText(t, err, "[None Pxe]")
	err = d.Reset(deadline(t), "ForceOff")
	wantCode(t, err, protocol.CodeUnsupported)
	wantText(t, err, "[PowerCycle]")
	if writes != 0 {
		t.Errorf("%d writes", writes)
	}
}
