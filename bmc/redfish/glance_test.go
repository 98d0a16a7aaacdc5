package redfish_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// TestObserveIsAnAnswer: what the last read said is believed of no other. The BMC has an ETag that never changes,
// and would answer 304 to whoever names it; its answers are as long as each other.
func TestObserveIsAnAnswer(t *testing.T) {
	const form = `{"@odata.id":"/s","UUID":"38947555-7742-3448-3784-823347823834","PowerState":%q,"BootProgress":{"LastState":%q},` +
		`"Boot":{"BootSourceOverrideTarget":%q,"BootSourceOverrideEnabled":"Once"},"Actions":{"#ComputerSystem.Reset":{"target":"/s/reset"}}}`
	var body atomic.Pointer[string]
	var conditional, asked atomic.Int32
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/s" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("ETag", `"frozen"`)
		if r.Header.Get("If-None-Match") != "" {
			conditional.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, *body.Load())
	})
	at.SystemURI = "/s"
	d := open(t, redfish.Config{}, at)
	for i, tt := range []struct {
		body     string
		power    protocol.PowerState
		progress string
		target   protocol.BootTarget
		code     protocol.Code
	}{
		{fmt.Sprintf(form, "Off", "None", "Pxe"), protocol.PowerOff, "None", "Pxe", ""},
		{fmt.Sprintf(form, "Off", "None", "Pxe"), protocol.PowerOff, "None", "Pxe", ""},
		{fmt.Sprintf(form, "On ", "None", "Pxe"), protocol.PowerUnknown, "None", "Pxe", protocol.CodeUnavailable}, // as long as Off
		{fmt.Sprintf(form, "On", "None", "Pxe"), protocol.PowerOn, "None", "Pxe", ""},
		{fmt.Sprintf(form, "On", "OEM", "Pxe"), protocol.PowerOn, "OEM", "Pxe", ""},
		{fmt.Sprintf(form, "On", "OEM", "Hdd"), protocol.PowerOn, "OEM", "Hdd", ""},
		{`{"PowerState":"Off"`, protocol.PowerUnknown, "", "", protocol.CodeUnavailable},
		{`{"PowerState":"Off"`, protocol.PowerUnknown, "", "", protocol.CodeUnavailable}, // what was no answer stays none
		{fmt.Sprintf(form, "On", "OEM", "Hdd"), protocol.PowerOn, "OEM", "Hdd", ""},
		{fmt.Sprintf(form, "Off", "OEM", "Hdd"), protocol.PowerOff, "OEM", "Hdd", ""},
	} {
		body.Store(&tt.body)
		before := asked.Load()
		o, err := d.Observe(deadline(t))
		if protocol.CodeOf(err) != tt.code || o.Power != tt.power || o.BootProgress != tt.progress || o.Override.Target != tt.target {
			t.Errorf("read %d: %+v, %v", i, o, err)
		}
		if asked.Load() == before {
			t.Errorf("read %d: the BMC was not asked", i)
		}
	}
	if conditional.Load() > 0 {
		t.Error("a read let the BMC say that nothing had changed")
	}
}
