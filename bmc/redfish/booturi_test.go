package redfish_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

const bootURL = "http://192.0.2.1/b/token-canary/boot.efi"

func (r *rig) setBootURI(t *testing.T) (bmc.BootResult, error) {
	t.Helper()
	return r.driver.(bmc.URIBooter).SetBootURI(deadline(t), once(protocol.TargetUefiHTTP), bootURL)
}

func isCanary(uri string) bool { return strings.Contains(uri, "token-canary") }

// Each row is a BMC, where it has HttpBootUri, and what comes of a URL for it. What it
// refuses is said without the URL, whose path has the boot's token.
func TestPresetsBootURI(t *testing.T) {
	for _, row := range []struct {
		preset  string
		shown   string // the resource that has the URL then
		outcome protocol.BootOutcome
		code    protocol.Code
	}{
		{"SupermicroURI", "/redfish/v1/Systems/1", bmc.BootStored, ""},
		{"BlueFieldTargets", "/redfish/v1/Systems/Bluefield", bmc.BootStored, ""},
		{"AMINextReset", "/redfish/v1/Systems/Self/SD", bmc.BootPendingReset, ""},
		{"HPERefusesURI", "", bmc.BootUnsupported, protocol.CodeUnsupported},
		{"Plain", "", bmc.BootUnsupported, protocol.CodeUnsupported},
	} {
		t.Run(row.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, row.preset)
			got, err := r.setBootURI(t)
			if protocol.CodeOf(err) != row.code || got.Outcome != row.outcome {
				t.Fatalf("%+v, %v; want %s, %q", got, err, row.outcome, row.code)
			}
			if err != nil && (strings.Contains(err.Error()+got.Text, "token-canary") || protocol.HintOf(err) == "") {
				t.Errorf("%v", err)
			}
			if row.shown == "" {
				return
			}
			if body := getRaw(t, r, row.shown); !bytes.Contains(body, []byte(bootURL)) {
				t.Errorf("%s has no URL: %s", row.shown, body)
			}
			if _, err := r.driver.(bmc.URIBooter).ClearBootURI(deadline(t), func(uri string) bool { return uri == "else" }); err != nil {
				t.Fatal(err)
			}
			if body := getRaw(t, r, row.shown); !bytes.Contains(body, []byte(bootURL)) {
				t.Errorf("another URL was cleared: %s", body)
			}
			// As after a restart: another driver than the one that wrote it.
			d := open(t, redfish.Config{}, target(r.bmc))
			if pending, err := d.(bmc.URIBooter).ClearBootURI(deadline(t), isCanary); err != nil || pending {
				t.Fatalf("%v, pending %t", err, pending)
			}
			body := getRaw(t, r, row.shown)
			if bytes.Contains(body, []byte("token-canary")) || !bytes.Contains(body, []byte(`"BootSourceOverrideEnabled":"Once"`)) {
				t.Errorf("cleared, it has the URL still, or the override no more: %s", body)
			}
			if _, err := r.setBootURI(t); err != nil {
				t.Fatal(err)
			}
			if _, err := r.setBoot(t, protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}); err != nil {
				t.Fatal(err)
			}
			if body := getRaw(t, r, row.shown); bytes.Contains(body, []byte("token-canary")) {
				t.Errorf("disarmed, it has the URL still: %s", body)
			}
		})
	}
}

// A BMC that takes a URL and keeps another one, or none, is not powered on with it.
func TestBootURIThatDoesNotStay(t *testing.T) {
	for _, left := range []string{"", "http://192.0.2.9/else"} {
		target, enabled := "None", "Disabled"
		d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				target, enabled = "UefiHttp", "Once"
			}
			fmt.Fprintf(w, `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":%q,"BootSourceOverrideEnabled":%q,"HttpBootUri":%q}}`, target, enabled, left)
		}))
		_, err := d.(bmc.URIBooter).SetBootURI(deadline(t), once(protocol.TargetUefiHTTP), bootURL)
		wantCode(t, err, protocol.CodeUnsupported)
		wantText(t, err, "HttpBootUri")
		if strings.Contains(err.Error(), "token-canary") || left != "" && strings.Contains(err.Error(), left) {
			t.Errorf("a URL is shown: %v", err)
		}
	}
}

// A URL goes with an armed UefiHttp only.
func TestBootURINeedsHTTP(t *testing.T) {
	r := preset(t, "SupermicroURI")
	_, err := r.driver.(bmc.URIBooter).SetBootURI(deadline(t), once(protocol.TargetPxe), bootURL)
	wantCode(t, err, protocol.CodeInvalid)
}

// What a BMC makes of clearing a URL: null, an empty text, or nothing at all.
func TestClearBootURI(t *testing.T) {
	for _, row := range []struct {
		name  string
		takes []string // the bodies that it takes
		lies  bool     // it answers 200 to the others
		code  protocol.Code
		tries int
	}{
		{"null (DSP2046)", []string{"null"}, false, "", 1},
		{"an empty text", []string{`""`}, false, "", 2},
		{"an empty text, and null is dropped", []string{`""`}, true, "", 2},
		{"refused", nil, false, protocol.CodeUnsupported, 2},
		{"dropped", nil, true, protocol.CodeUnsupported, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			uri, tries := bootURL, 0
			d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/SD") {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				if r.Method == http.MethodPatch {
					tries++
					var body struct{ Boot map[string]json.RawMessage }
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Boot) != 1 {
						t.Errorf("%v, %v: more than the URL is written", body, err)
					}
					switch {
					case slices.Contains(row.takes, string(body.Boot["HttpBootUri"])):
						uri = ""
					case !row.lies:
						w.WriteHeader(http.StatusBadRequest)
						return
					}
				}
				fmt.Fprintf(w, `{"PowerState":"On","Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Once","HttpBootUri":%q}}`, uri)
			}))
			_, err := d.(bmc.URIBooter).ClearBootURI(deadline(t), isCanary)
			wantCode(t, err, row.code)
			if tries != row.tries || err == nil && uri != "" {
				t.Errorf("%d writes, %q is left", tries, uri)
			}
			if err != nil && (isCanary(err.Error()) || protocol.HintOf(err) == "") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A BMC that does not answer, or asks for time, is no BMC that keeps the URL.
func TestClearBootURILater(t *testing.T) {
	for status, code := range map[int]protocol.Code{http.StatusServiceUnavailable: protocol.CodeUnavailable, http.StatusForbidden: protocol.CodeDenied} {
		d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				w.WriteHeader(status)
				return
			}
			fmt.Fprintf(w, `{"PowerState":"On","Boot":{"HttpBootUri":%q}}`, bootURL)
		}))
		_, err := d.(bmc.URIBooter).ClearBootURI(deadline(t), isCanary)
		wantCode(t, err, code)
	}
}

// AMI shows at the system what the last reset has put there, and takes changes at the settings
// for the next one: the URL is gone after that.
func TestClearBootURINextReset(t *testing.T) {
	r := preset(t, "AMINextReset")
	if _, err := r.setBootURI(t); err != nil {
		t.Fatal(err)
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	pending, err := r.driver.(bmc.URIBooter).ClearBootURI(deadline(t), isCanary)
	if body := getRaw(t, r, "/redfish/v1/Systems/Self"); err != nil || !pending || !bytes.Contains(body, []byte("token-canary")) {
		t.Fatalf("%v, pending %t: %s", err, pending, body)
	}
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerOff)
	r.arm(t, protocol.TargetHdd)
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	if pending, err = r.driver.(bmc.URIBooter).ClearBootURI(deadline(t), isCanary); err != nil || pending {
		t.Errorf("%v, pending %t", err, pending)
	}
	if body := getRaw(t, r, "/redfish/v1/Systems/Self"); bytes.Contains(body, []byte("token-canary")) {
		t.Errorf("after the next reset: %s", body)
	}
}
