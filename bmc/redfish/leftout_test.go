package redfish_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// A property that the BMC names in its refusal is left out if the rest makes
// sense alone: Mode always, Target to disarm, Enabled to arm (Dell 13G, ansible
// #5091). Enabled to disarm is the whole point.
func TestPropertiesAreLeftOut(t *testing.T) {
	tests := []struct {
		name    string
		refused string
		held    string // at first: target and Enabled
		want    protocol.Override
		bodies  int // that are sent
		code    protocol.Code
	}{
		{"Mode", "BootSourceOverrideMode", `"None","BootSourceOverrideEnabled":"Disabled"`, once("Pxe"), 2, ""},
		{"Enabled, to arm", "BootSourceOverrideEnabled", `"None","BootSourceOverrideEnabled":"Once"`, once("Pxe"), 2, ""},
		{"Target, to arm", "BootSourceOverrideTarget", `"None","BootSourceOverrideEnabled":"Disabled"`, once("Pxe"), 1, protocol.CodeUnsupported},
		{"Target, to disarm", "BootSourceOverrideTarget", `"Pxe","BootSourceOverrideEnabled":"Once"`, protocol.Override{Target: "None", Enabled: "Disabled"}, 2, ""},
		{"Enabled, to disarm", "BootSourceOverrideEnabled", `"Pxe","BootSourceOverrideEnabled":"Once"`, protocol.Override{Target: "None", Enabled: "Disabled"}, 1, protocol.CodeUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			boot := map[string]string{}
			if err := json.Unmarshal([]byte(`{"BootSourceOverrideTarget":`+tt.held+`,"BootSourceOverrideMode":"Legacy"}`), &boot); err != nil {
				t.Fatal(err)
			}
			bodies := 0
			d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					bodies++
					var body struct{ Boot map[string]string }
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
						t.Error(err)
					}
					if _, sent := body.Boot[tt.refused]; sent {
						w.WriteHeader(http.StatusBadRequest)
						fmt.Fprintf(w, `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.13.PropertyNotWritable","MessageArgs":[%q]}]}}`, tt.refused)
						return
					}
					maps.Copy(boot, body.Boot)
					if tt.refused == "BootSourceOverrideMode" {
						boot["BootSourceOverrideMode"] = "UEFI" // as it is for every target there
					}
				}
				if err := json.NewEncoder(w).Encode(map[string]any{"PowerState": "Off", "Boot": boot}); err != nil {
					t.Error(err)
				}
			}))
			got, err := d.SetBoot(deadline(t), tt.want)
			wantCode(t, err, tt.code)
			if got.Outcome.OK() != (tt.code == "") || bodies != tt.bodies {
				t.Errorf("%d bodies, %+v", bodies, got)
			}
		})
	}
}

// places is a BMC with an override at the system and one in a settings resource,
// neither of which changes the other. link says whether the system names the
// settings; refuse is the MessageId with which the system refuses a write.
func places(t *testing.T, link bool, refuse string, held ...string) (bmc.Target, *[]string) {
	t.Helper()
	uris := []string{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1/SD"}
	var written []string
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		at := slices.Index(uris, r.URL.Path)
		switch {
		case at < 0:
			w.WriteHeader(http.StatusNotFound)
			return
		case r.Method == http.MethodPatch && at == 0 && refuse != "":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"@Message.ExtendedInfo":[{"MessageId":%q}]}}`, refuse)
			return
		case r.Method == http.MethodPatch:
			var body struct{ Boot map[string]string }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			written = append(written, r.URL.Path)
			held[at] = fmt.Sprintf(`%q,"BootSourceOverrideEnabled":%q`, body.Boot["BootSourceOverrideTarget"], body.Boot["BootSourceOverrideEnabled"])
		}
		more := ""
		if link && at == 0 {
			more = fmt.Sprintf(`,"@Redfish.Settings":{"SettingsObject":{"@odata.id":%q}}`, uris[1])
		}
		fmt.Fprintf(w, `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":%s}%s}`, held[at], more)
	}), &written
}

// AMI names no settings and says where to write only when it refuses (Tacklebox
// #144). Once found, the place is the first that is tried.
func TestFutureStateIsFound(t *testing.T) {
	const none = `"None","BootSourceOverrideEnabled":"Disabled"`
	target, written := places(t, false, "Ami.1.0.OperationSupportedInFutureStateURI", none, none)
	d := open(t, redfish.Config{}, target)
	for n := range 2 {
		got, err := d.SetBoot(deadline(t), once("Pxe"))
		if err != nil || got.Outcome != bmc.BootPendingReset || len(*written) != n+1 {
			t.Fatalf("%+v, %v, written %q", got, err, *written)
		}
		if o, err := d.Observe(deadline(t)); err != nil || !o.Override.Armed() {
			t.Errorf("observed %+v, %v", o.Override, err)
		}
	}
}

// What is armed at the system and in its settings is cleared at both, and so is
// what one of them holds besides.
func TestTwoPlacesAreDisarmed(t *testing.T) {
	const armed = `"Pxe","BootSourceOverrideEnabled":"Once"`
	for _, system := range []string{armed, `"None","BootSourceOverrideEnabled":"Disabled","BootNext":"Boot0001"`} {
		target, written := places(t, true, "", system, armed) // the settings are written first
		got, err := open(t, redfish.Config{}, target).SetBoot(deadline(t), protocol.Override{Target: "None", Enabled: "Disabled"})
		if err != nil || got.Outcome != bmc.BootStored || len(*written) != 2 {
			t.Errorf("%s: %+v, %v, written %q", system, got, err, *written)
		}
	}
}
