package redfish_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	simtree "rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// faultRig is bubbleRig with a preset.
func faultRig(t *testing.T, name string, test func(t *testing.T, r *rig)) {
	t.Helper()
	p, ok := sim.Preset(name)
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	bubbleRig(t, p, redfish.Config{RequestTimeout: 5 * time.Second}, test)
}

// Each row is a BMC that cannot be read, and what is said of it in typed fields.
func TestPresetsFault(t *testing.T) {
	for _, tt := range []struct {
		preset string
		power  protocol.PowerState
		want   protocol.FaultKind
	}{
		{"BrokenJSON", protocol.PowerUnknown, protocol.FaultCut},
		{"ShortBody", protocol.PowerUnknown, protocol.FaultCut},
		{"SlowDrip", protocol.PowerUnreachable, protocol.FaultSlow},
		{"PowerAbsent", protocol.PowerUnknown, protocol.FaultPower},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			faultRig(t, tt.preset, func(t *testing.T, r *rig) {
				o, err := r.driver.Observe(t.Context())
				if o.Power != tt.power || o.Fault.Kind != tt.want || err == nil {
					t.Errorf("%s, fault %+v, %v", o.Power, o.Fault, err)
				}
				// It is forced off all the same, and On is not sent without a read before it.
				r.bmc.ExternalOn()
				time.Sleep(time.Second)
				at := target(r.bmc)
				at.SystemURI = simtree.SystemURI
				if tt.preset == "PowerAbsent" {
					at.SystemURI = r.bmc.Hosts()[0].URI()
				}
				d := open(t, r.config, at)
				if err := d.Reset(t.Context(), bmc.ResetForceOff); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
				if got := r.machine.State(); got != hardware.Off {
					t.Errorf("the machine is %s", got)
				}
				if err := d.Reset(t.Context(), bmc.ResetOn); err == nil && tt.want != protocol.FaultPower {
					t.Error("On was sent without a read before it")
				}
			})
		})
	}
}

// A reset that the BMC takes as a Task is followed: what it says at the end is in the next
// read, once.
func TestTaskIsFollowed(t *testing.T) {
	faultRig(t, "ResetTaskFails", func(t *testing.T, r *rig) {
		r.reset(t, bmc.ResetOn)
		o, err := r.driver.Observe(t.Context())
		if err != nil || o.Order.Kind != "" {
			t.Fatalf("while it runs: %+v, %v", o.Order, err)
		}
		time.Sleep(2 * time.Second)
		o, err = r.driver.Observe(t.Context())
		want := protocol.BMCFault{Kind: protocol.FaultTask, MessageID: "Base.1.13.InternalError", Text: "The power sequencer did not answer.", Reset: "On"}
		if err != nil || o.Order != want || o.Power != protocol.PowerOff {
			t.Fatalf("%+v, want %+v, %v", o.Order, want, err)
		}
		time.Sleep(2 * time.Second)
		if o, err = r.driver.Observe(t.Context()); err != nil || o.Order.Kind != "" {
			t.Fatalf("told twice: %+v, %v", o.Order, err)
		}
	})
}

// What a Task monitor may answer: the Task while it runs, and the operation's own answer
// after that (DSP0266).
func TestTaskMonitor(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   protocol.FaultKind
		reads  int // of the monitor, in four reads of the system
	}{
		{"it runs", 202, `{"TaskState":"Running"}`, "", 4},
		{"it is done", 200, `{"TaskState":"Completed","TaskStatus":"OK"}`, "", 1},
		{"the operation's answer", 204, ``, "", 1},
		{"the operation's refusal", 500, `{"error":{"code":"Base.1.13.InternalError","message":"no"}}`, "", 3},
		{"the operation's refusal, by 400", 400, `{"error":{"code":"Base.1.13.ActionNotSupported","message":"no"}}`, protocol.FaultTask, 1},
		{"it was killed", 200, `{"TaskState":"Killed"}`, protocol.FaultTask, 1},
		{"it is forgotten", 404, `{}`, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reads := 0
			h := func(w http.ResponseWriter, req *http.Request) {
				switch {
				case req.URL.Path == "/redfish/v1/":
					fmt.Fprint(w, `{}`)
				case req.Method == http.MethodPost:
					w.Header().Set("Location", "https://bmc.example/redfish/v1/TaskService/TaskMonitors/7")
					w.WriteHeader(http.StatusAccepted)
				case strings.Contains(req.URL.Path, "TaskMonitors"):
					reads++
					w.WriteHeader(tt.status)
					fmt.Fprint(w, tt.body)
				default:
					fmt.Fprint(w, `{"PowerState":"On","Actions":{"#ComputerSystem.Reset":{"target":"/redfish/v1/Systems/1/Reset","ResetType@Redfish.AllowableValues":["ForceOff"]}}}`)
				}
			}
			bubble(t, redfish.Config{RequestTimeout: 5 * time.Second}, h, func(t *testing.T, d bmc.Driver) {
				if err := d.Reset(t.Context(), bmc.ResetForceOff); err != nil {
					t.Fatal(err)
				}
				var got protocol.FaultKind
				for range 4 {
					o, err := d.Observe(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if o.Order.Kind != "" {
						got = o.Order.Kind
					}
					time.Sleep(1100 * time.Millisecond)
				}
				if got != tt.want || reads != tt.reads {
					t.Errorf("%q after %d reads, want %q after %d", got, reads, tt.want, tt.reads)
				}
			})
		})
	}
}

// ForceOff that is taken and not done is no error: the reads tell.
func TestForceOffIgnored(t *testing.T) {
	faultRig(t, "ForceOffIgnored", func(t *testing.T, r *rig) {
		r.reset(t, bmc.ResetOn)
		time.Sleep(time.Second)
		r.reset(t, bmc.ResetForceOff)
		time.Sleep(time.Minute)
		if o, err := r.driver.Observe(t.Context()); err != nil || o.Power != protocol.PowerOn || o.Order.Kind != "" {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

// Each way of taking an override away, against BMCs that refuse some of them.
func TestPresetsDisarm(t *testing.T) {
	ways := []protocol.Override{
		{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}, {Target: protocol.TargetNone}, once(protocol.TargetHdd),
	}
	for _, tt := range []struct {
		preset string
		takes  int // the first way that is taken; 3 for none
	}{{"DisarmsByNone", 1}, {"DisarmsByHdd", 2}, {"KeepsOverride", 3}} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, tt.preset)
			r.arm(t, protocol.TargetPxe)
			for i, way := range ways {
				got, err := r.setBoot(t, way)
				if taken := err == nil && got.Outcome.OK(); taken != (i == tt.takes) {
					t.Fatalf("way %d: %+v, %v", i, got, err)
				}
				if err != nil && (bmc.FaultOf(err).Kind != protocol.FaultRefused || bmc.FaultOf(err).MessageID == "") {
					t.Errorf("fault %+v", bmc.FaultOf(err))
				}
				if i == tt.takes {
					break
				}
			}
			if o := r.bmc.Override(); (tt.takes == 3) != (o.Armed() && o.Target == protocol.TargetPxe) {
				t.Errorf("the BMC holds %+v", o)
			}
		})
	}
}

// No session left, with whatever status: basic authentication, and it is said.
func TestPresetsSessionsFull(t *testing.T) {
	for _, tt := range []struct {
		preset string
		status int
	}{{"SessionsFull", 503}, {"SessionsBadRequest", 400}, {"SessionsForbidden", 403}, {"SessionsTooMany", 429}} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			p, _ := sim.Preset(tt.preset)
			p.Session.Max = -1 // others hold them all
			r := newRig(t, p)
			o, err := r.driver.Observe(deadline(t))
			if err != nil || o.Power != protocol.PowerOff || o.Fault.Kind != protocol.FaultSessions || o.Fault.Status != tt.status {
				t.Fatalf("%+v, %v", o, err)
			}
			r.reset(t, bmc.ResetOn)
		})
	}
}

// Every If-Match is refused, * too: it is one fault, with the BMC's words.
func TestETagsAllRefused(t *testing.T) {
	t.Parallel()
	r := preset(t, "ETagGigabyte")
	got, err := r.setBoot(t, once(protocol.TargetPxe))
	f := bmc.FaultOf(err)
	if got.Outcome != bmc.BootRefusedByState || f.Kind != protocol.FaultPrecondition || f.MessageID == "" {
		t.Errorf("%+v, %+v, %v", got, f, err)
	}
}

// moved is a driver of a system that has another path by now.
func moved(t *testing.T, id bmc.SystemID) (*rig, func() (protocol.Observation, error)) {
	t.Helper()
	r := preset(t, "UpdateMovesSystem")
	at := target(r.bmc)
	at.SystemURI = simtree.SystemURI
	r.driver = open(t, redfish.Config{}, at)
	r.driver.(bmc.Finder).Expect(id)
	if _, err := r.driver.Observe(deadline(t)); err != nil {
		t.Fatal(err)
	}
	r.bmc.MoveSystem("/redfish/v1/Systems/host0")
	return r, func() (protocol.Observation, error) { return r.driver.Observe(deadline(t)) }
}

const movedUUID = "3f1c9a52-0000-4000-8000-000000000001"

// A system that moved is found again by what it is known by, and acted on there.
func TestSystemMoved(t *testing.T) {
	t.Parallel()
	r, look := moved(t, bmc.SystemID{UUID: strings.ToUpper(movedUUID)})
	if o, err := look(); err != nil || o.Power != protocol.PowerOff {
		t.Fatalf("%+v, %v", o, err)
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	// What is there later is not it: nothing is sent to it.
	r.driver.(bmc.Finder).Expect(bmc.SystemID{UUID: "11111111-0000-4000-8000-000000000009"})
	o, err := look()
	if o.Fault.Kind != protocol.FaultStranger || err == nil {
		t.Fatalf("%+v, %v", o, err)
	}
	before := len(r.bmc.History())
	if err := r.driver.Reset(deadline(t), bmc.ResetForceOff); err == nil {
		t.Error("a stranger was forced off")
	}
	for _, h := range r.bmc.History()[before:] {
		if h.What == sim.RecordReset {
			t.Errorf("the BMC was sent %s", h.Detail)
		}
	}
}

// Nothing is guessed: a machine that nothing is known of, or that differs, is not followed.
func TestSystemMovedUnknown(t *testing.T) {
	for name, id := range map[string]bmc.SystemID{
		"not known":           {},
		"another UUID":        {UUID: "11111111-0000-4000-8000-000000000009"},
		"another serial only": {Serial: "S9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, look := moved(t, id)
			if o, err := look(); err == nil || o.Power != protocol.PowerUnknown || o.Fault.Kind != protocol.FaultGone {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}

// Two systems that fit: none is taken, none is acted on, and both are named.
func TestSystemMovedAmbiguous(t *testing.T) {
	t.Parallel()
	p := sim.Plain()
	p.Tree = simtree.TwoHosts()
	r := newRig(t, p)
	at := target(r.bmc)
	at.SystemURI = "/redfish/v1/Systems/gone"
	d := open(t, redfish.Config{}, at)
	d.(bmc.Finder).Expect(bmc.SystemID{UUID: movedUUID})
	o, err := d.Observe(deadline(t))
	if o.Fault.Kind != protocol.FaultAmbiguous || !strings.Contains(o.Fault.Text, "/Systems/1, /redfish/v1/Systems/2") {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := d.Reset(deadline(t), bmc.ResetForceOff); err == nil {
		t.Error("one of two was forced off")
	}
	for _, h := range r.bmc.History() {
		if h.What == sim.RecordReset {
			t.Errorf("the BMC was sent %s", h.Detail)
		}
	}
}

// A BMC's own words are bounded, printable and without the account, from a plain body too.
func TestFaultWords(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tt := range []struct{ name, body, id, want string }{
		{"extended", `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.13.InternalError","Message":"no\nway"}]}}`, "Base.1.13.InternalError", "no way"},
		{"plain", "Maximum\tnumber reached\x07", "", "Maximum number reached"},
		{"page", "<html><body>500</body></html>", "", ""},
		{"long", long, "", long[:300] + "…"},
		{"with the account", "bad user " + username + " " + password, "", "bad user [hidden] [hidden]"},
		{"bytes", "\x00\x01", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/redfish/v1/" {
					fmt.Fprint(w, `{}`)
					return
				}
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprint(w, tt.body)
			}))
			o, _ := d.Observe(deadline(t))
			if f := o.Fault; f.Kind != protocol.FaultRefused || f.Status != 500 || f.MessageID != tt.id || f.Text != tt.want {
				t.Errorf("%+v, want %q %q", f, tt.id, tt.want)
			}
		})
	}
}
