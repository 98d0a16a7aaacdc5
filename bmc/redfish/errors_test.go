package redfish_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%q lacks %q", err, want)
	}
}

func TestStatusClassification(t *testing.T) {
	tests := []struct {
		name   string
		source string
		fault  sim.Fault
		reset  bool // the error is for a reset, else for a PATCH
		want   protocol.Code
		busy   bool
		after  time.Duration
	}{
		{"503 with Retry-After", "RFC 9110 section 10.2.3", sim.Fault{Status: 503, Header: http.Header{"Retry-After": {"30"}}}, false, protocol.CodeUnavailable, true, 30 * time.Second},
		{"503 without", "Dell SYS518, metal-operator #170", sim.Fault{Status: 503, MessageID: "IDRAC.2.8.SYS518"}, true, protocol.CodeUnavailable, true, 0},
		{"429", "RFC 6585 section 4", sim.Fault{Status: 429}, false, protocol.CodeUnavailable, true, 0},
		{"400 during POST", "HPE, metal-operator #997", sim.Fault{Status: 400, MessageID: "iLO.2.37.UnableToModifyDuringSystemPOST"}, false, protocol.CodeConflict, true, 0},
		{"403", "RFC 9110", sim.Fault{Status: 403}, false, protocol.CodeDenied, false, 0},
		{"409 PSU501", "Dell", sim.Fault{Status: 409, MessageID: "IDRAC.2.8.PSU501"}, true, protocol.CodeConflict, false, 0},
		{"400 already", "HPE", sim.Fault{Status: 400, MessageID: "iLO.2.37.InvalidOperationForSystemState"}, true, protocol.CodeConflict, false, 0},
		{"400 to a change, in use", "Base.1.13.ResourceInUse", sim.Fault{Status: 400, MessageID: "Base.1.13.ResourceInUse"}, false, protocol.CodeConflict, false, 0},
		{"400 to a change, not in this state", "HPE", sim.Fault{Status: 400, MessageID: "iLO.2.37.InvalidOperationForSystemState"}, false, protocol.CodeConflict, false, 0},
		{"400 to a change, a job waits", "Dell SYS011, bmclib #467", sim.Fault{Status: 400, MessageID: "IDRAC.2.8.SYS011"}, false, protocol.CodeConflict, false, 0},
		{"400 to a reset, nothing said", "V8", sim.Fault{Status: 400, Body: "no"}, true, protocol.CodeConflict, false, 0},
		{"400 to a change, nothing said", "DSP0266", sim.Fault{Status: 400, Body: "no"}, false, protocol.CodeInvalid, false, 0},
		{"400 not writable", "iDRAC 10, bmclib #461", sim.Fault{Status: 400, MessageID: "Base.1.18.PropertyNotWritable"}, false, protocol.CodeUnsupported, false, 0},
		{"405", "RFC 9110", sim.Fault{Status: 405}, true, protocol.CodeUnsupported, false, 0},
		{"503 with the time in words", "Dell SYS518, metal-operator #170", sim.Fault{Status: 503, Body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"IDRAC.2.8.SYS518","Message":"Not ready. Retry in 30 seconds."}]}}`}, true, protocol.CodeUnavailable, true, 30 * time.Second},
		{"409 to On just after off", "iDRAC 10, ironic", sim.Fault{Status: 409, MessageID: "Base.1.18.ActionParameterValueConflict"}, true, protocol.CodeConflict, true, 10 * time.Second},
		{"428", "AMI, Tacklebox #144", sim.Fault{Status: 428, MessageID: "Base.1.13.PreconditionRequired"}, false, protocol.CodeConflict, false, 0},
		{"404", "RFC 9110", sim.Fault{Status: 404}, true, protocol.CodeInvalid, false, 0},
		{"500", "RFC 9110", sim.Fault{Status: 500, Body: "<html>"}, true, protocol.CodeUnavailable, false, 0},
		{"302", "same method only", sim.Fault{Status: 302, Header: http.Header{"Location": {"/redfish/v1"}}}, true, protocol.CodeUnavailable, false, 0},
		{"broken connection", "outcome unknown", sim.Fault{Status: 0}, true, protocol.CodeTimeout, false, 0},
	}
	r := newRig(t, sim.Plain())
	r.await(t, protocol.PowerOff) // the faults are not for the login
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			if tt.reset {
				tt.fault.Method = http.MethodPost
				r.bmc.Inject(tt.fault)
				err = r.driver.Reset(deadline(t), bmc.ResetOn)
			} else {
				tt.fault.Method = http.MethodPatch
				r.bmc.Inject(tt.fault)
				_, err = r.driver.SetBoot(deadline(t), protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce})
			}
			wantCode(t, err, tt.want)
			var busy *bmc.Busy
			if got := errors.As(err, &busy); got != tt.busy {
				t.Fatalf("busy is %v: %v", got, err)
			}
			if busy != nil && busy.RetryAfter != tt.after {
				t.Errorf("RetryAfter is %v, want %v", busy.RetryAfter, tt.after)
			}
			if protocol.HintOf(err) == "" {
				t.Errorf("no hint with %v", err)
			}
		})
	}
	if n := len(r.bmc.History()); n != 0 {
		t.Errorf("a refused or lost request had an effect: %v", r.bmc.History())
	}
}

// A reset whose answer is lost was done once, and is not repeated.
func TestLostAnswerIsUnknownAndNotRepeated(t *testing.T) {
	r := newRig(t, sim.Plain())
	r.await(t, protocol.PowerOff) // the fault is not for the login
	r.bmc.Inject(sim.Fault{Method: http.MethodPost, Status: 0, Perform: true})
	wantCode(t, r.driver.Reset(deadline(t), bmc.ResetOn), protocol.CodeTimeout)
	r.await(t, protocol.PowerOn)
	resets := 0
	for _, h := range r.bmc.History() {
		if h.What == sim.RecordReset {
			resets++
		}
	}
	if resets != 1 {
		t.Errorf("%d resets arrived", resets)
	}
}

// Wrong passwords block our address at the BMC: one attempt, then a pause.
func TestRefusedCredentialsAreNotTriedAgain(t *testing.T) {
	var requests atomic.Int32
	var allow atomic.Bool
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			requests.Add(1)
		}
		if !allow.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"code":"x","message":"wrong password %s for %s"}}`, password, username)
			return
		}
		fmt.Fprint(w, `{"PowerState":"Off"}`)
	}
	d := open(t, redfish.Config{}, serve(t, h))
	for range 5 {
		o, err := d.Observe(deadline(t))
		wantCode(t, err, protocol.CodeDenied)
		if o.Power != protocol.PowerUnknown {
			t.Errorf("power is %s", o.Power)
		}
		for _, secret := range []string{username, password} {
			if strings.Contains(fmt.Sprintf("%v %+v %s", err, o, protocol.HintOf(err)), secret) {
				t.Errorf("the error shows a secret: %v", err)
			}
		}
	}
	if n := requests.Load(); n != 1 {
		t.Fatalf("%d requests with refused credentials", n)
	}
	// After the pause one more attempt is made, and not before.
	bubble(t, redfish.Config{}, h, func(t *testing.T, d bmc.Driver) {
		for _, left := range []time.Duration{redfish.DefaultDeniedPause, time.Nanosecond} {
			_, err := d.Observe(t.Context())
			wantCode(t, err, protocol.CodeDenied)
			allow.Store(true)
			time.Sleep(redfish.DefaultDeniedPause - left)
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("%d requests before the end of the pause, want 2", n)
		}
		time.Sleep(time.Nanosecond)
		if _, err := d.Observe(t.Context()); err != nil || requests.Load() != 3 {
			t.Errorf("%d requests, want 3; %v", requests.Load(), err)
		}
	})
}

func TestCallerDeadline(t *testing.T) {
	bubbleRig(t, sim.Plain(), redfish.Config{}, func(t *testing.T, r *rig) {
		if err := r.bmc.SetReach(sim.ReachHangs); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.driver.Observe(ctx)
		wantCode(t, err, protocol.CodeTimeout)
	})
}

// The deadline of a request covers the body of its answer.
func TestHangingBody(t *testing.T) {
	bubble(t, redfish.Config{}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "{")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, func(t *testing.T, d bmc.Driver) {
		_, err := d.Observe(t.Context())
		wantCode(t, err, protocol.CodeTimeout)
	})
}

// An answer without a usable power state is an observation and an error.
func TestNoPowerState(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"PowerState":null,"Boot":{"BootSourceOverrideTarget":"Hdd"}}`)
	})
	o, err := open(t, redfish.Config{}, target).Observe(deadline(t))
	wantCode(t, err, protocol.CodeUnavailable)
	if o.Power != protocol.PowerUnknown || o.Code != protocol.CodeUnavailable || o.Error == "" || o.Override.Target != protocol.TargetHdd {
		t.Errorf("observation %+v", o)
	}
}
