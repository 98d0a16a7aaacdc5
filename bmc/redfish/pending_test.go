package redfish_test

import (
	"fmt"
	"net/http"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// An override that waits in the settings (AMI) is shown until it is gone from
// there, or has reached the system and is gone from there.
func TestPendingOverrideIsShown(t *testing.T) {
	const none, armed = `"None","BootSourceOverrideEnabled":"Disabled"`, `"Pxe","BootSourceOverrideEnabled":"Once"`
	main, settings := none, none
	broken := false
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPatch && r.URL.Path == "/sd":
			settings = armed
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == "/sd" && broken:
			w.WriteHeader(http.StatusInternalServerError)
		case r.URL.Path == "/sd":
			fmt.Fprintf(w, `{"Boot":{"BootSourceOverrideTarget":%s}}`, settings)
		default:
			fmt.Fprintf(w, `{"PowerState":"Off","@Redfish.Settings":{"SettingsObject":{"@odata.id":"/sd"}},"Boot":{"BootSourceOverrideTarget":%s}}`, main)
		}
	}))
	shows := func(want bool, when string) {
		t.Helper()
		o, err := d.Observe(deadline(t))
		if err != nil || o.Override.Armed() != want {
			t.Errorf("%s: %+v, %v", when, o.Override, err)
		}
	}
	arm := func() {
		t.Helper()
		main, settings = none, none
		got, err := d.SetBoot(deadline(t), once(protocol.TargetPxe))
		if err != nil || got.Outcome != bmc.BootPendingReset {
			t.Fatalf("%+v, %v", got, err)
		}
		shows(true, "armed")
	}
	arm()
	broken = true
	shows(true, "the settings cannot be read: it still counts as armed")
	broken, settings = false, none
	shows(false, "gone from the settings")
	settings = armed
	shows(false, "somebody else's, later: it is not on the system")

	arm()
	main = armed
	shows(true, "it has reached the system")
	main = none
	shows(false, "consumed, though the settings still show it")
}

// A write that is answered with 202 is done by a task, and read back for a while.
func TestAcceptedForLater(t *testing.T) {
	t.Parallel()
	reads, written := 0, false
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			written = true
			w.WriteHeader(http.StatusAccepted)
			return
		}
		boot := `"None","BootSourceOverrideEnabled":"Disabled"`
		if written {
			if reads++; reads > 1 {
				boot = `"Pxe","BootSourceOverrideEnabled":"Once"`
			}
		}
		fmt.Fprintf(w, `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":%s}}`, boot)
	}))
	got, err := d.SetBoot(deadline(t), once(protocol.TargetPxe))
	if err != nil || got.Outcome != bmc.BootStored || reads != 2 {
		t.Errorf("%+v after %d reads, %v", got, reads, err)
	}
}
