package rack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// settle gives server 0 to a maintenance that writes settings of its firmware.
func (b *bench) settle(a *agent.Agent, uid string, want ...resource.FirmwareWanted) {
	b.t.Helper()
	in := &b.intents[0]
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle, in.Power, in.Releasing = uid, uid, resource.PurposeMaintenance, true, resource.WantOn, false
	in.Boot, in.Settings = nil, &message.SettingsIntent{Want: want}
	b.send(a)
}

// letGo ends what owns server 0.
func (b *bench) letGo(a *agent.Agent) {
	b.t.Helper()
	in := &b.intents[0]
	in.Power, in.Releasing, in.Boot, in.Settings = resource.WantOff, true, nil, nil
	b.send(a)
	b.until("the server is let go", 0, func(r resource.ServerReport) bool { return r.OwnerUID == in.Owner.UID && r.Released })
}

// inPost lets the agent's clock pass the time of POST, as often as settings are waited for.
func (b *bench) inPost(ok func(resource.ServerReport) bool) func(resource.ServerReport) bool {
	moved := time.Now()
	return func(r resource.ServerReport) bool {
		if f := r.Firmware; f != nil && f.Stage == resource.FirmwareChecking && time.Since(moved) > 3*b.poll {
			moved = time.Now()
			b.ahead.Add(int64(3 * time.Minute))
		}
		return ok(r)
	}
}

// settled is that a run is over, and its server Off.
func settled(uid string, st resource.FirmwareStage) func(resource.ServerReport) bool {
	return func(r resource.ServerReport) bool {
		return r.Firmware != nil && r.Firmware.OwnerUID == uid && r.Firmware.Stage == st && r.Observation.Power == protocol.PowerOff
	}
}

// longPost has POST outlast a report and what is done about it.
func longPost(c *sim.ServerConfig) { c.Post = 5 * time.Second }

// takingFirmware is that a server is in the POST that takes its settings.
func takingFirmware(r resource.ServerReport) bool {
	return r.Firmware != nil && r.Firmware.Stage == resource.FirmwareBooting && r.Observation.Power == protocol.PowerOn
}

func wantSet(where, value string) resource.FirmwareWanted {
	return resource.FirmwareWanted{Setting: "attributes." + where, Where: where, Value: value}
}

// Of each vendor settings are written, taken by POST, and read back; a second run puts back what was.
func TestFirmwareSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ preset, name, value string }{
		{"DellOwnJob", "AcPwrRcvry", "Off"},
		{"HPEModeReadOnly", "UefiShellBootOrder", "Enabled"},
		{"SupermicroHTTPOff", "IPv4HTTPSupport_00F5", "Enabled"},
		{"LenovoNoContinuous", "NetworkStackSettings_IPv4HTTPSupport", "Enabled"},
		{"AMINextReset", "SETUP001", "Disabled"},
		{"AMINeedsMatch", "SETUP001", "Disabled"},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			p, _ := bmcsim.Preset(tt.preset)
			b := newBench(t, 1, p)
			a, _ := b.start(nil)
			b.settle(a, "m1", wantSet(tt.name, tt.value))
			r := b.until("it is in force", 0, b.inPost(settled("m1", resource.FirmwareSucceeded)))
			s := r.Firmware.Settings[0]
			if s.Before == tt.value || s.Before == "" || s.Now != tt.value || s.Standing != resource.FirmwareInForce || r.Firmware.Passes != 1 {
				t.Errorf("%+v", r.Firmware)
			}
			if n, d, _, _ := b.servers[0].Boots.Counts(); n+d != 0 {
				t.Errorf("%d network boots, %d of the disk", n, d)
			}
			b.letGo(a)
			b.settle(a, "m2", wantSet(tt.name, s.Before))
			r = b.until("it is as before", 0, b.inPost(settled("m2", resource.FirmwareSucceeded)))
			if back := r.Firmware.Settings[0]; back.Before != tt.value || back.Now != s.Before {
				t.Errorf("%+v", back)
			}
			b.letGo(a)
		})
	}
}

// The URL of HTTP boot is written, and put back: on a Dell it is within a device that has to be on for that.
func TestFirmwareSettingsURL(t *testing.T) {
	t.Parallel()
	const url = "http://10.7.0.1:8080/x.efi"
	for _, tt := range []struct {
		preset string
		want   []resource.FirmwareWanted
		passes int
	}{
		{"DellHTTPDevice", []resource.FirmwareWanted{wantSet("HttpDev1EnDis", "Enabled"), wantSet("HttpDev1Uri", url)}, 2},
		{"HPEModeReadOnly", []resource.FirmwareWanted{wantSet("UrlBootFile", url)}, 1},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			p, _ := bmcsim.Preset(tt.preset)
			b := newBench(t, 1, p)
			a, _ := b.start(nil)
			b.settle(a, "m1", tt.want...)
			r := b.until("it is in force", 0, b.inPost(settled("m1", resource.FirmwareSucceeded)))
			if r.Firmware.Passes != tt.passes {
				t.Errorf("%+v", r.Firmware)
			}
			var before []resource.FirmwareWanted
			for _, s := range r.Firmware.Settings {
				before = append(before, wantSet(s.Where, s.Before))
			}
			b.letGo(a)
			b.settle(a, "m2", before...)
			r = b.until("it is as before", 0, b.inPost(settled("m2", resource.FirmwareSucceeded)))
			for i, s := range r.Firmware.Settings {
				if s.Now != before[i].Value || s.Standing != resource.FirmwareInForce {
					t.Errorf("%+v", s)
				}
			}
			b.letGo(a)
		})
	}
}

// A Dell takes one job at a time: Secure Boot has a pass of its own.
func TestFirmwareSettingsTwoJobs(t *testing.T) {
	t.Parallel()
	p, _ := bmcsim.Preset("DellSecureBootConflict")
	b := newBench(t, 1, p)
	a, _ := b.start(nil)
	b.settle(a, "m1", wantSet("AcPwrRcvry", "Off"), resource.FirmwareWanted{Setting: "secureBoot", Where: protocol.FirmwareAtSecureBoot, Value: "On"})
	r := b.until("both are in force", 0, b.inPost(settled("m1", resource.FirmwareSucceeded)))
	if r.Firmware.Passes != 2 {
		t.Errorf("%+v", r.Firmware)
	}
}

// A BMC that takes what is written, and does not apply it: the setting is said to be not taken, once. The claim
// has its server back after it.
func TestFirmwareSettingsNotTaken(t *testing.T) {
	t.Parallel()
	p, _ := bmcsim.Preset("SupermicroHTTPOff")
	p.BIOS.Deaf = true
	p.Boot.NetworkNeeds = nil
	b := newBench(t, 1, p)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the claim's disk boot", 0, diskBoot)
	claim := b.intents[0]
	b.settle(a, "m1", wantSet("IPv4HTTPSupport_00F5", "Enabled"))
	r := b.until("it has failed", 0, b.inPost(settled("m1", resource.FirmwareFailed)))
	if s := r.Firmware.Settings[0]; r.Firmware.Code != resource.FirmwareLeft || s.Standing != resource.FirmwareNotTaken || s.Before != "Disabled" || s.Now != "Disabled" || r.Firmware.Passes != 1 {
		t.Errorf("%+v", r.Firmware)
	}
	r = b.until("FirmwareNotWritten", 0, has(resource.CondFirmwareNotWritten))
	for _, c := range r.Conditions {
		if strings.Contains(c.Message, "Enabled") {
			t.Errorf("a value in %+v", c)
		}
	}
	b.letGo(a)
	b.intents[0] = claim
	b.send(a)
	b.until("the claim's disk boot again", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "claim-uid" && diskBoot(r) })
}

// Of a vendor whose settings nobody knows how to write, nothing is written or powered on.
func TestFirmwareSettingsUnsupported(t *testing.T) {
	t.Parallel()
	p, _ := bmcsim.Preset("RestoresPower")
	b := newBench(t, 1, p)
	a, _ := b.start(nil)
	b.settle(a, "m1", resource.FirmwareWanted{Setting: "powerRestore", Where: protocol.FirmwareAtRestore, Value: "AlwaysOff"})
	r := b.until("it has failed", 0, settled("m1", resource.FirmwareFailed))
	if r.Firmware.Code != resource.FirmwareNoWay || len(b.resets(0)) != 0 {
		t.Errorf("%+v, resets %v", r.Firmware, b.resets(0))
	}
	for _, q := range b.servers[0].BMC.Requests() {
		if q.Method == http.MethodPatch {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
}

// A hold in POST stops the server and is proved; after its release the run goes on, and keeps what was before.
func TestFirmwareSettingsHeld(t *testing.T) {
	t.Parallel()
	p, _ := bmcsim.Preset("AMINextReset")
	b := newBenchOf(t, t.TempDir(), 1, p, longPost)
	a, _ := b.start(nil)
	b.settle(a, "m1", wantSet("SETUP001", "Disabled"))
	r := b.until("POST", 0, takingFirmware)
	before := r.Firmware.Settings[0].Before
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	if b.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Error("fenced and not Off")
	}
	b.release(a)
	r = b.until("it is in force", 0, b.inPost(settled("m1", resource.FirmwareSucceeded)))
	if s := r.Firmware.Settings[0]; s.Before != before || s.Now != "Disabled" {
		t.Errorf("%+v, before %q", s, before)
	}
}

// An agent that is killed in POST finds by reading what came of it.
func TestFirmwareSettingsKilled(t *testing.T) {
	t.Parallel()
	p, _ := bmcsim.Preset("SupermicroHTTPOff")
	b := newBenchOf(t, t.TempDir(), 1, p, longPost)
	a, stop := b.start(nil)
	b.settle(a, "m1", wantSet("IPv4HTTPSupport_00F5", "Enabled"))
	b.until("POST", 0, takingFirmware)
	stop()
	a, _ = b.start(nil)
	b.send(a)
	r := b.until("it is in force", 0, b.inPost(settled("m1", resource.FirmwareSucceeded)))
	if s := r.Firmware.Settings[0]; s.Before != "Disabled" || s.Now != "Enabled" || r.Firmware.Passes != 1 {
		t.Errorf("%+v", r.Firmware)
	}
}
