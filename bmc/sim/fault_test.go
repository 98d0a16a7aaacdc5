package sim

import (
	"net/http"
	"testing"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
)

func TestFaultMerge(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	u.bmc.Inject(Fault{Method: "GET", Path: "/Systems/1", Merge: `{"PowerState":"PoweringOff","Model":null}`, Header: http.Header{"Retry-After": {"7"}}})
	a := u.do("GET", tree.SystemURI, "")
	u.want(a, 200, "")
	if _, has := a.body["Model"]; has || a.body["PowerState"] != "PoweringOff" || a.header.Get("Retry-After") != "7" || a.body["Manufacturer"] != "Dell Inc." {
		t.Errorf("answer %v %v", a.body, a.header)
	}
	if a := u.do("GET", tree.SystemURI, ""); a.body["PowerState"] != "Off" {
		t.Errorf("power is %v after the fault", a.body["PowerState"])
	}
}

// A script: steps are used up in their order, and a step can let one pass.
func TestFaultScript(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	u.bmc.Inject(
		Fault{Path: "/Systems/1", Status: 503, MessageID: "x", Times: 2},
		Fault{Path: "/Systems/1", Pass: true, Delay: time.Millisecond},
		Fault{Path: "/Systems/1", Merge: `{}`, Status: 202},
		Fault{Path: "/Systems/1", Status: 418, Body: "tea"},
	)
	for _, want := range []int{503, 503, 200, 202, 418, 200} {
		if a := u.do("GET", tree.SystemURI, ""); a.status != want {
			t.Fatalf("answer %d, want %d", a.status, want)
		}
	}
	u.bmc.Inject(Fault{Status: 500, Times: 9})
	u.bmc.ClearFaults()
	u.want(u.do("GET", tree.SystemURI, ""), 200, "")
}
