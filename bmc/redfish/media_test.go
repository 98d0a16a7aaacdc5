package redfish_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

const own = "http://192.0.2.1/b/"

// Each row inserts the images of two boots, so that the second has to eject the first's,
// and ejects them.
func TestPresetsMedia(t *testing.T) {
	for _, row := range []struct {
		preset string
		config bool // there is a drive for the config image
	}{
		{"MediaAtSystem", true},
		{"MediaAtManager", true},
		{"MediaByPatch", false},
		{"MediaRefusesInserted", false},
		{"MediaNeedsProtocol", false},
		{"MediaNeedsStream", false},
		{"MediaNeedsAccount", false},
		{"MediaEjectBody", true},
		{"MediaFirstSlot", false},
		{"MediaPlainURL", false},
		{"MediaUsbCd", false},
		{"MediaDVDOnly", false},
	} {
		t.Run(row.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, row.preset)
			d := r.driver.(bmc.MediaDriver)
			for _, token := range []string{"a", "b"} {
				m := bmc.Media{Boot: own + token + "/boot.iso", Config: own + token + "/config.iso", Own: own}
				in, err := d.InsertMedia(deadline(t), m)
				if err != nil || in.Boot == "" || (in.Config != "") != row.config || in.Config == in.Boot {
					t.Fatalf("%+v, %v", in, err)
				}
				if got := r.bmc.Hosts()[0].Media(in.Boot); got != m.Boot {
					t.Fatalf("the BMC has %q", got)
				}
				if got := r.bmc.Hosts()[0].Media(in.Config); row.config && got != m.Config {
					t.Fatalf("the BMC has %q", got)
				}
				n := len(r.bmc.History())
				if again, err := d.InsertMedia(deadline(t), m); err != nil || again.Boot != in.Boot || len(r.bmc.History()) != n {
					t.Fatalf("what is in was inserted again: %+v, %v", again, err)
				}
			}
			if err := d.EjectMedia(deadline(t), own); err != nil {
				t.Fatal(err)
			}
			p, err := r.driver.(bmc.Prober).Probe(deadline(t), "")
			if err != nil || p.Media.Inserted || !p.Media.Supported || p.Inventory.Media == nil {
				t.Errorf("media %+v, %+v, %v", p.Media, p.Inventory.Media, err)
			}
		})
	}
}

func TestMediaErrors(t *testing.T) {
	tests := []struct {
		name   string
		preset string
		url    string
		want   protocol.Code
		hint   string
	}{
		{"no slot (Cisco)", "CiscoNoMode", "http://192.0.2.1/a.iso", protocol.CodeUnsupported, "licence"},
		{"? in the URL (Supermicro X12)", "MediaPlainURL", "http://192.0.2.1/a.iso?x=1", protocol.CodeInvalid, "without ? and ="},
		{"not a URL", "MediaAtSystem", "a.iso", protocol.CodeInvalid, "address that the BMC itself can reach"},
		{"no URL", "MediaAtSystem", "", protocol.CodeInvalid, ""},
		{"not ready (ironic tries three times)", "MediaNotReady", "http://192.0.2.1/a.iso", protocol.CodeUnavailable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := preset(t, tt.preset).driver.(bmc.MediaDriver).InsertMedia(deadline(t), bmc.Media{Boot: tt.url})
			wantCode(t, err, tt.want)
			if tt.hint != "" {
				wantHint(t, err, tt.hint)
			}
		})
	}
}

// Somebody else's medium is neither ejected nor covered up, and does not keep ours from
// being ejected. One in a drive for sticks is in nobody's way.
func TestMediaOfOthers(t *testing.T) {
	const theirs = "http://198.51.100.1/rescue.iso"
	r := preset(t, "MediaAtSystem") // two drives
	d, h := r.driver.(bmc.MediaDriver), r.bmc.Hosts()[0]
	other := bmc.Media{Boot: theirs, Own: "http://198.51.100.1/"}
	in, err := d.InsertMedia(deadline(t), other)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.InsertMedia(deadline(t), bmc.Media{Boot: own + "a/boot.iso", Own: own})
	wantCode(t, err, protocol.CodeConflict)
	if o, ok := errors.AsType[*bmc.Occupied](err); !ok || o.Drive != in.Boot {
		t.Errorf("%v", err)
	}
	if err := d.EjectMedia(deadline(t), own); err != nil || h.Media(in.Boot) != theirs {
		t.Errorf("%q, %v", h.Media(in.Boot), err)
	}

	r = preset(t, "MediaAtManager") // one drive, and one for sticks
	d, h = r.driver.(bmc.MediaDriver), r.bmc.Hosts()[0]
	in, err = d.InsertMedia(deadline(t), bmc.Media{Boot: own + "a/boot.iso", Config: theirs, Own: own})
	if err != nil || in.Config == "" {
		t.Fatalf("%+v, %v", in, err)
	}
	next, err := d.InsertMedia(deadline(t), bmc.Media{Boot: own + "b/boot.iso", Config: own + "b/config.iso", Own: own})
	if err != nil || next.Boot != in.Boot || next.Config != "" || h.Media(in.Config) != theirs {
		t.Errorf("%+v, %q, %v", next, h.Media(in.Config), err)
	}
}

// What a person has mounted from a console has no URL, and is theirs.
func TestMediaByApplet(t *testing.T) {
	d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/Systems/1":
			fmt.Fprint(w, `{"PowerState":"Off","VirtualMedia":{"@odata.id":"/slots"}}`)
		case "/slots":
			fmt.Fprint(w, `{"Members":[{"@odata.id":"/slots/1"}]}`)
		case "/slots/1":
			fmt.Fprint(w, `{"Inserted":true,"ConnectedVia":"Applet","Actions":{"#VirtualMedia.InsertMedia":{"target":"/i"},"#VirtualMedia.EjectMedia":{"target":"/e"}}}`)
		default:
			if r.Method != http.MethodGet {
				t.Errorf("%s %s was sent", r.Method, r.URL.Path)
			}
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	_, err := d.(bmc.MediaDriver).InsertMedia(deadline(t), bmc.Media{Boot: own + "a/boot.iso", Own: own})
	wantCode(t, err, protocol.CodeConflict)
	if err := d.(bmc.MediaDriver).EjectMedia(deadline(t), own); err != nil {
		t.Error(err)
	}
}

// A BMC that answers an eject with success and keeps the image is asked again.
func TestMediaNotEjected(t *testing.T) {
	ejects := 0
	bubble(t, redfish.Config{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/Systems/1":
			fmt.Fprint(w, `{"PowerState":"Off","VirtualMedia":{"@odata.id":"/slots"}}`)
		case "/slots":
			fmt.Fprint(w, `{"Members":[{"@odata.id":"/slots/1"}]}`)
		case "/e":
			ejects++
			w.WriteHeader(http.StatusNoContent)
		default: // its name alone
			fmt.Fprint(w, `{"Inserted":true,"Image":"boot.iso","Actions":{"#VirtualMedia.EjectMedia":{"target":"/e"}}}`)
		}
	}, func(t *testing.T, d bmc.Driver) {
		wantCode(t, d.(bmc.MediaDriver).EjectMedia(t.Context(), own), protocol.CodeUnavailable)
		if ejects != 1 {
			t.Errorf("ejected %d times in one call", ejects)
		}
	})
}

// Inserted stays true after an eject (ironic): a slot that looks full is ejected
// and takes the next image.
func TestMediaStaysInserted(t *testing.T) {
	r := preset(t, "MediaStaysInserted")
	d := r.driver.(bmc.MediaDriver)
	for _, token := range []string{"a", "b"} {
		if _, err := d.InsertMedia(deadline(t), bmc.Media{Boot: own + token + "/boot.iso", Own: own}); err != nil {
			t.Fatal(err)
		}
		if err := d.EjectMedia(deadline(t), own); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestorePolicy(t *testing.T) {
	r := preset(t, "RestoresPower")
	d := r.driver.(bmc.RestorePolicer)
	inv, err := r.driver.(bmc.Inventorier).Inventory(deadline(t))
	if err != nil || inv.Restore.Policy == "" || !inv.Restore.Writable {
		t.Fatalf("%+v, %v", inv.Restore, err)
	}
	if read, err := d.RestorePolicy(deadline(t)); err != nil || read != inv.Restore.Policy {
		t.Fatalf("read %s, %v", read, err)
	}
	before, err := d.SetRestorePolicy(deadline(t), protocol.RestoreAlwaysOff)
	if err != nil || before != inv.Restore.Policy {
		t.Fatalf("before %s, %v", before, err)
	}
	if now, err := d.SetRestorePolicy(deadline(t), before); err != nil || now != protocol.RestoreAlwaysOff {
		t.Fatalf("now %s, %v", now, err)
	}
	_, err = d.SetRestorePolicy(deadline(t), "Sometimes")
	wantCode(t, err, protocol.CodeInvalid)
	r = preset(t, "SupermicroRestore")
	_, err = r.driver.(bmc.RestorePolicer).SetRestorePolicy(deadline(t), protocol.RestoreAlwaysOff)
	wantCode(t, err, protocol.CodeUnsupported)
	_, err = r.driver.(bmc.RestorePolicer).RestorePolicy(deadline(t))
	wantCode(t, err, protocol.CodeUnsupported)
	want := protocol.Restore{Where: "RestoreonACPowerLoss_0035", Value: "Last State", Policy: protocol.RestoreLastState}
	if inv, err = r.driver.(bmc.Inventorier).Inventory(deadline(t)); err != nil || inv.Restore != want {
		t.Errorf("%+v, %v", inv.Restore, err)
	}
}

// Power rows: what the driver says, and what is left to a fresh read.
func TestPresetsPower(t *testing.T) {
	t.Run("HPEAlready", func(t *testing.T) {
		r := preset(t, "HPEAlready")
		wantCode(t, r.driver.Reset(deadline(t), bmc.ResetForceOff), protocol.CodeConflict)
		r.await(t, protocol.PowerOff)
	})
	t.Run("NoResetTypes are tried", func(t *testing.T) {
		r := preset(t, "NoResetTypes")
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOn)
	})
	t.Run("DGXFewResets by ActionInfo", func(t *testing.T) {
		r := preset(t, "DGXFewResets")
		wantCode(t, r.driver.Reset(deadline(t), "PowerCycle"), protocol.CodeUnsupported)
		r.reset(t, bmc.ResetOn)
	})
	t.Run("HPENoPowerCycle", func(t *testing.T) {
		wantCode(t, preset(t, "HPENoPowerCycle").driver.Reset(deadline(t), "PowerCycle"), protocol.CodeUnsupported)
	})
	t.Run("IDRAC10RefusesOn is busy", func(t *testing.T) {
		r := preset(t, "IDRAC10RefusesOn")
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOn)
		r.reset(t, bmc.ResetForceOff)
		r.await(t, protocol.PowerOff)
		busy := wantBusy(t, r.driver.Reset(deadline(t), bmc.ResetOn))
		if busy.RetryAfter != 10*time.Second {
			t.Errorf("retry after %s", busy.RetryAfter)
		}
	})
	t.Run("IDRACNotReady says when", func(t *testing.T) {
		r := preset(t, "IDRACNotReady")
		r.reset(t, bmc.ResetOn)
		if busy := wantBusy(t, r.driver.Reset(deadline(t), bmc.ResetForceOff)); busy.RetryAfter == 0 {
			t.Error("no time is given")
		}
	})
	t.Run("IDRAC5Gap is busy", func(t *testing.T) {
		r := preset(t, "IDRAC5Gap")
		r.reset(t, bmc.ResetOn)
		if busy := wantBusy(t, r.driver.Reset(deadline(t), bmc.ResetForceOff)); busy.RetryAfter <= 0 || busy.RetryAfter > 20*time.Second {
			t.Errorf("retry after %s", busy.RetryAfter)
		}
	})
	for _, name := range []string{"PowerWords", "PowerNull"} {
		t.Run(name+" never count as Off", func(t *testing.T) {
			p, ok := sim.Preset(name)
			if !ok {
				t.Fatal("no such preset")
			}
			p.PowerOnDelay = time.Hour
			r := newRig(t, p)
			r.reset(t, bmc.ResetOn)
			o, err := r.driver.Observe(deadline(t))
			wantCode(t, err, protocol.CodeUnavailable)
			if o.Power != protocol.PowerUnknown {
				t.Errorf("power is %s", o.Power)
			}
		})
	}
}
