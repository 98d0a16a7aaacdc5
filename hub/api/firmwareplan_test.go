package api_test

import (
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Who may mark firmware work sees what a profile would change; a viewer does not: values of BIOS
// attributes may be URLs with somebody's token.
func TestFirmwarePlan(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	operator := hub.ClientOf(t, apitest.TokenOf("operator"))
	if _, err := operator.Servers.FirmwarePlan(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("without a profile: %v", err)
	}
	p := &resource.FirmwareProfile{Spec: resource.FirmwareProfileSpec{
		Selector: resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "nothing", Operator: resource.SelectDoesNotExist}}}, HTTP: resource.WantOn,
	}}
	p.Default()
	p.Metadata.Name = "p1"
	if _, err := c.Objects.Apply(t.Context(), []resource.Object{p}, false); err != nil {
		t.Fatal(err)
	}
	hub.Plans.Set("n1", protocol.Firmware{FirmwareSettings: protocol.FirmwareSettings{BIOS: true}})
	if got, err := operator.Servers.FirmwarePlan(t.Context(), "n1"); err != nil || got.Profile != "p1" || len(got.Changes) != 1 || got.Changes[0].Hindrance != protocol.FirmwareNotShown {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := operator.Servers.FirmwarePlan(t.Context(), "n99"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("no such server: %v", err)
	}
	for _, who := range []string{"viewer", "row7"} {
		if _, err := hub.ClientOf(t, apitest.TokenOf(who)).Servers.FirmwarePlan(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("by %s: %v", who, err)
		}
	}
}

// To have settings written takes the right of firmware work, also in a set and as a change; values are shown to nobody but
// who asks for them with that right.
func TestFirmwareSettings(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	write := func(value string) *resource.Maintenance {
		m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
			ServerRef: resource.Ref{Name: "n1"}, Reason: "HTTP boot", Firmware: []resource.FirmwareWanted{{Setting: "uri", Where: "Uri", Value: value}},
		}}
		m.Default()
		m.Metadata.Name = "m1"
		return m
	}
	by := func(who string, m *resource.Maintenance) error {
		_, err := hub.ClientOf(t, apitest.TokenOf(who)).Objects.Apply(t.Context(), []resource.Object{m}, false)
		return err
	}
	for who, want := range map[string]protocol.Code{"viewer": protocol.CodeDenied, "row7": protocol.CodeDenied, "operator": ""} {
		if err := by(who, write("https://a?token=1")); protocol.CodeOf(err) != want && (err != nil || want != "") {
			t.Errorf("by %s: %v", who, err)
		}
	}
	got, err := c.Objects.Get(t.Context(), resource.KindMaintenance, "m1")
	if err != nil {
		t.Fatal(err)
	}
	shown := got.(*resource.Maintenance)
	if w := shown.Spec.Firmware[0]; w.Value != "" || !w.Hidden || w.Where != "Uri" {
		t.Errorf("%+v", w)
	}
	if _, err := c.Objects.Apply(t.Context(), []resource.Object{shown}, false); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("what was not shown is applied: %v", err)
	}
	operator := hub.ClientOf(t, apitest.TokenOf("operator"))
	if _, err := operator.Servers.FirmwareStatus(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("before any: %v", err)
	}
	s, err := store.Get[*resource.Server](hub.Store.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	s.Status.Settings = &resource.FirmwareRun{OwnerUID: "m", Stage: resource.FirmwareFailed, Settings: []resource.FirmwareSet{{Before: "https://b?token=2"}}}
	if err := hub.Store.Objects.Put(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if run, err := operator.Servers.FirmwareStatus(t.Context(), "n1"); err != nil || run.Settings[0].Before != "https://b?token=2" {
		t.Errorf("%+v, %v", run, err)
	}
	if _, err := hub.ClientOf(t, apitest.TokenOf("viewer")).Servers.FirmwareStatus(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("by a viewer: %v", err)
	}
}
