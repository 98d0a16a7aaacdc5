package site

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

// TestFirmwareProfile: somebody says how the firmware of servers is to be set. The hub has the agent read
// it, the server says what is otherwise, and a plan shows the values. What is wanted otherwise changes
// both; nothing was written.
func TestFirmwareProfile(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	p, ok := bmcsim.Preset("SupermicroHTTPOff")
	if !ok {
		t.Fatal("there is no such preset")
	}
	sv, err := sim.StartServer(sim.ServerConfig{
		Name: "n1", MAC: "02:00:00:00:00:01", Username: "admin", Password: "secret", Personality: p, DHCP: s.dhcp, Speed: speed,
		Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sv.Close() })
	s.servers = append(s.servers, sv)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.untilServer("n1", "a read", func(v *resource.Server) bool { return v.Status.Report != nil })
	if _, err := s.client.Servers.FirmwarePlan(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("without a profile: %v", err)
	}

	profile := func(http resource.Power) *resource.FirmwareProfile {
		f := &resource.FirmwareProfile{Spec: resource.FirmwareProfileSpec{
			Selector: resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "other", Operator: resource.SelectDoesNotExist}}},
			HTTP:     http, PowerRestore: protocol.RestoreLastState,
		}}
		f.Default()
		f.Metadata.Name = "p1"
		return f
	}
	drifts := func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondFirmwareDrift) }
	s.apply(profile(resource.WantOn))
	v := s.untilServer("n1", "FirmwareDrift", drifts)
	for _, k := range v.Status.Conditions {
		if k.Code == resource.CondFirmwareDrift && k.Message != "profile p1: http (IPv4HTTPSupport_00F5)" {
			t.Errorf("it says %q", k.Message)
		}
	}
	plan, err := s.client.Servers.FirmwarePlan(t.Context(), "n1")
	if err != nil || plan.Family != "Supermicro" || len(plan.Changes) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if x := plan.Changes[0]; x.Where != "IPv4HTTPSupport_00F5" || x.Today != "Disabled" || x.Wanted != "Enabled" || !x.Reset || x.Hindrance != "" {
		t.Errorf("%+v", x)
	}

	s.apply(profile(resource.WantOff))
	s.untilServer("n1", "no FirmwareDrift", func(v *resource.Server) bool { return !drifts(v) })
	if plan, err := s.client.Servers.FirmwarePlan(t.Context(), "n1"); err != nil || len(plan.Changes) != 0 {
		t.Errorf("%+v, %v", plan, err)
	}
	for _, q := range sv.BMC.Requests() {
		if q.Method == "PATCH" && strings.Contains(q.Path, "/Bios") {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
}

// TestFirmwareApply: what the plan of a profile says is written by a maintenance, which ends by itself; what was before
// is kept and put back. Values are shown to nobody but who asks for them.
func TestFirmwareApply(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	p, ok := bmcsim.Preset("SupermicroHTTPOff")
	if !ok {
		t.Fatal("there is no such preset")
	}
	sv, err := sim.StartServer(sim.ServerConfig{
		Name: "n1", MAC: "02:00:00:00:00:01", Username: "admin", Password: "secret", Personality: p, DHCP: s.dhcp, Speed: speed,
		Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sv.Close() })
	s.servers = append(s.servers, sv)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	f := &resource.FirmwareProfile{Spec: resource.FirmwareProfileSpec{
		Selector: resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "other", Operator: resource.SelectDoesNotExist}}}, HTTP: resource.WantOn,
	}}
	f.Default()
	f.Metadata.Name = "p1"
	s.apply(f)
	s.untilServer("n1", "FirmwareDrift", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondFirmwareDrift) })

	plan, err := s.client.Servers.FirmwarePlan(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	want, hindered := settings.Wanted(plan)
	if len(hindered) > 0 || len(want) != 1 {
		t.Fatalf("%+v, %+v", want, hindered)
	}
	run := s.settle("firmware-n1", want)
	if set := run.Settings[0]; set.Before != "Disabled" || set.Now != "Enabled" || set.Standing != resource.FirmwareInForce {
		t.Errorf("%+v", run)
	}
	v := s.untilServer("n1", "no FirmwareDrift", func(v *resource.Server) bool { return !has(v.Status.Conditions, resource.CondFirmwareDrift) })
	if text, _ := json.Marshal(v.Status.Settings); strings.Contains(string(text), "Enabled") || strings.Contains(string(text), "Disabled") {
		t.Errorf("the server shows values: %s", text)
	}
	if plan, err := s.client.Servers.FirmwarePlan(t.Context(), "n1"); err != nil || len(plan.Changes) != 0 {
		t.Errorf("%+v, %v", plan, err)
	}
	back := s.settle("firmware-n1", run.Back())
	if set := back.Settings[0]; set.Before != "Enabled" || set.Now != "Disabled" {
		t.Errorf("%+v", back)
	}
	s.untilServer("n1", "FirmwareDrift again", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondFirmwareDrift) })
	if n, d, _, _ := sv.Boots.Counts(); n+d != 0 {
		t.Errorf("%d network boots, %d of the disk", n, d)
	}
}

// TestFirmwareSafeStop: a safe stop that a profile wants is brought about: its boot order is written, POST takes it, and
// then it is the class that the server reports.
func TestFirmwareSafeStop(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	p, ok := bmcsim.Preset("SupermicroHTTPOff")
	if !ok {
		t.Fatal("there is no such preset")
	}
	sv, err := sim.StartServer(sim.ServerConfig{
		Name: "n1", MAC: "02:00:00:00:00:01", Username: "admin", Password: "secret", Personality: p, DHCP: s.dhcp, Speed: speed,
		Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sv.Close() })
	s.servers = append(s.servers, sv)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.untilServer("n1", "the network first", func(v *resource.Server) bool { return v.Status.SafeStop == protocol.SafeStopNetworkFirst })
	// wants has a profile's plan written.
	wants := func(name string, spec resource.FirmwareProfileSpec) {
		t.Helper()
		spec.Selector = resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "other", Operator: resource.SelectDoesNotExist}}}
		f := &resource.FirmwareProfile{Spec: spec}
		f.Default()
		f.Metadata.Name = "p1"
		s.apply(f)
		s.untilServer("n1", "FirmwareDrift", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondFirmwareDrift) })
		plan, err := s.client.Servers.FirmwarePlan(t.Context(), "n1")
		if err != nil {
			t.Fatal(err)
		}
		want, hindered := settings.Wanted(plan)
		if len(hindered) > 0 || len(want) == 0 {
			t.Fatalf("%+v, %+v of %+v", want, hindered, plan)
		}
		s.settle(name, want)
	}
	wants("firmware-order", resource.FirmwareProfileSpec{BootOrder: []resource.BootClass{resource.BootShellOptions}})
	s.untilServer("n1", "another safe stop", func(v *resource.Server) bool { return v.Status.SafeStop != protocol.SafeStopNetworkFirst })
	wants("firmware-stop", resource.FirmwareProfileSpec{SafeStop: protocol.SafeStopNetworkFirst})
	s.untilServer("n1", "the safe stop that is wanted", func(v *resource.Server) bool {
		return v.Status.SafeStop == protocol.SafeStopNetworkFirst && !has(v.Status.Conditions, resource.CondFirmwareDrift)
	})
}

// settle writes settings of n1, and waits for the end of the maintenance that does it.
func (s *site) settle(name string, want []resource.FirmwareWanted) resource.FirmwareRun {
	s.t.Helper()
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}, Reason: "HTTP boot", Firmware: want}}
	m.Default()
	m.Metadata.Name = name
	s.apply(m)
	obj, err := s.client.Objects.Get(s.t.Context(), resource.KindMaintenance, name)
	if err != nil {
		s.t.Fatal(err)
	}
	uid := obj.Head().Metadata.UID
	s.untilServer("n1", "the settings are in force", func(v *resource.Server) bool {
		r := v.Status.Settings
		return r != nil && r.OwnerUID == uid && r.Stage == resource.FirmwareSucceeded
	})
	s.until("the maintenance is gone", func() bool {
		_, err := s.client.Objects.Get(s.t.Context(), resource.KindMaintenance, name)
		return protocol.CodeOf(err) == protocol.CodeNotFound
	}, func() any { return name })
	run, err := s.client.Servers.FirmwareStatus(s.t.Context(), "n1")
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}
