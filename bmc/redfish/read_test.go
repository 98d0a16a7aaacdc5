package redfish_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// A read is what the BMC says, in its words; it is never made better. What must
// not be believed is for who reads twice.
func TestPresetsRead(t *testing.T) {
	on := func(t *testing.T, r *rig) {
		t.Helper()
		r.reset(t, bmc.ResetOn)
		r.awaitMachine(t, hardware.Shell)
	}
	off := func(t *testing.T, r *rig) {
		t.Helper()
		on(t, r)
		r.reset(t, bmc.ResetForceOff)
	}
	tests := []struct {
		preset   string
		change   func(*sim.Personality)
		do       func(*testing.T, *rig)
		power    protocol.PowerState
		progress string
	}{
		{"StaleOn", func(p *sim.Personality) { p.Power.StaleFor = time.Hour }, func(t *testing.T, r *rig) {
			t.Helper()
			r.reset(t, bmc.ResetOn)
			r.awaitMachine(t, hardware.Shell)
		}, protocol.PowerOff, "SetupEntered"}, // Off is shown of a host that runs
		{"StaleAfterReset", func(p *sim.Personality) { p.Power.StaleFor = time.Hour }, func(t *testing.T, r *rig) {
			t.Helper()
			r.reset(t, bmc.ResetOn)
		}, protocol.PowerOff, ""},
		{"OffAtOnce", func(p *sim.Personality) { p.PowerOffDelay = time.Hour }, off, protocol.PowerOff, "SetupEntered"},
		{"PowerPaused", func(p *sim.Personality) { p.PowerOffDelay = time.Hour }, off, protocol.PowerPaused, ""},
		{"ProgressStuck", nil, on, protocol.PowerOn, "SystemHardwareInitializationComplete"},
		{"ProgressOEM", nil, on, protocol.PowerOn, "OEM"},
		{"ProgressHPE", nil, on, protocol.PowerOn, ""},
		{"ProgressAbsent", nil, on, protocol.PowerOn, ""},
		{"ProgressForgets", nil, func(t *testing.T, r *rig) {
			t.Helper()
			on(t, r)
			r.bmc.Restart()
		}, protocol.PowerOn, "None"},
	}
	for _, tt := range tests {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			p, ok := sim.Preset(tt.preset)
			if !ok {
				t.Fatal("no such preset")
			}
			if tt.change != nil {
				tt.change(&p)
			}
			r := newRig(t, p)
			tt.do(t, r)
			o, err := r.driver.Observe(deadline(t))
			if err != nil || o.Power != tt.power || tt.progress != "" && o.BootProgress != tt.progress {
				t.Errorf("%+v, %v", o, err)
			}
			if tt.progress == "" && (tt.preset == "ProgressHPE" || tt.preset == "ProgressAbsent") && o.BootProgress != "" {
				t.Errorf("progress %q", o.BootProgress)
			}
		})
	}
	t.Run("OnFallsBack", func(t *testing.T) { // powerman #154
		r := preset(t, "OnFallsBack")
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOff)
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOn)
	})
}

// A connection that was idle may be one that the BMC drops when it is used: a
// reset, which is never repeated, takes a new one.
func TestResetTakesANewConnection(t *testing.T) {
	p, ok := sim.Preset("DropsIdle")
	if !ok {
		t.Fatal("no such preset")
	}
	p.Wire.DropIdle = time.Nanosecond // every second use
	p.PowerOnDelay, p.PowerOffDelay = 0, 0
	r := newRig(t, p)
	for range 3 {
		r.await(t, protocol.PowerOff)
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOn)
		r.reset(t, bmc.ResetForceOff)
	}
}

// A stream of a service that is off is none.
func TestStreamThatIsOff(t *testing.T) {
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/":
			fmt.Fprint(w, `{"EventService":{"@odata.id":"/events"}}`)
		case "/events":
			fmt.Fprint(w, `{"ServiceEnabled":false,"ServerSentEventUri":"/stream"}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {}\n\n")
		}
	}))
	wantCode(t, d.(bmc.EventSource).Events(deadline(t), func() { t.Error("woken") }), protocol.CodeUnsupported)
}

// A slot that refuses the image is not the last.
func TestNextSlot(t *testing.T) {
	inserted := ""
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/Systems/1":
			fmt.Fprint(w, `{"PowerState":"Off","VirtualMedia":{"@odata.id":"/slots"}}`)
		case "/slots":
			fmt.Fprint(w, `{"Members":[{"@odata.id":"/slots/1"},{"@odata.id":"/slots/2"}]}`)
		case "/slots/1/insert":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case "/slots/2/insert":
			inserted = r.URL.Path
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprintf(w, `{"Inserted":%v,"Actions":{"#VirtualMedia.InsertMedia":{"target":"%s/insert"}}}`, inserted == r.URL.Path+"/insert", r.URL.Path)
		}
	}))
	in, err := d.(bmc.MediaDriver).InsertMedia(deadline(t), bmc.Media{Boot: "http://192.0.2.1/a.iso"})
	if err != nil || in.Boot != "/slots/2" || inserted != "/slots/2/insert" {
		t.Errorf("inserted at %q, %v", inserted, err)
	}
}
