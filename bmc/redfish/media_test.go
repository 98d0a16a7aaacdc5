package redfish_test

import (
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// Each row inserts an image twice, so that the second has to eject first, and
// ejects it.
func TestPresetsMedia(t *testing.T) {
	for _, name := range []string{
		"MediaAtSystem", "MediaAtManager", "MediaByPatch", "MediaRefusesInserted", "MediaNeedsProtocol", "MediaNeedsStream",
		"MediaNeedsAccount", "MediaEjectBody", "MediaFirstSlot", "MediaPlainURL", "MediaUsbCd", "MediaDVDOnly",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			d := r.driver.(bmc.MediaDriver)
			for _, image := range []string{"http://192.0.2.1/a.iso", "http://192.0.2.1/b.iso"} {
				if err := d.InsertMedia(deadline(t), bmc.Media{URL: image}); err != nil {
					t.Fatal(err)
				}
				last := r.bmc.History()[len(r.bmc.History())-1]
				if last.What != sim.RecordMedia || last.Detail != image {
					t.Fatalf("the BMC did %+v", last)
				}
			}
			if err := d.EjectMedia(deadline(t)); err != nil {
				t.Fatal(err)
			}
			p, err := r.driver.(bmc.Prober).Probe(deadline(t), "")
			if err != nil || p.Media.Inserted || !p.Media.Supported {
				t.Errorf("media %+v, %v", p.Media, err)
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
		{"not ready (ironic tries three times)", "MediaNotReady", "http://192.0.2.1/a.iso", protocol.CodeUnavailable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := preset(t, tt.preset).driver.(bmc.MediaDriver).InsertMedia(deadline(t), bmc.Media{URL: tt.url})
			wantCode(t, err, tt.want)
			if tt.hint != "" {
				wantHint(t, err, tt.hint)
			}
		})
	}
}

// Inserted stays true after an eject (ironic): a slot that looks full is ejected
// and takes the next image.
func TestMediaStaysInserted(t *testing.T) {
	r := preset(t, "MediaStaysInserted")
	d := r.driver.(bmc.MediaDriver)
	for _, image := range []string{"http://192.0.2.1/a.iso", "http://192.0.2.1/b.iso"} {
		if err := d.InsertMedia(deadline(t), bmc.Media{URL: image}); err != nil {
			t.Fatal(err)
		}
		if err := d.EjectMedia(deadline(t)); err != nil {
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
