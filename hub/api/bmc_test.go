package api_test

import (
	"slices"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The routes about BMCs do what their client says, and pass the codes of the fleet.
func TestBMCs(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	ctx := t.Context()
	if _, err := c.Objects.Apply(ctx, storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	found := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r1"}, Address: "https://10.7.0.130"}, Status: resource.BMCStatus{State: resource.BMCPending}}
	found.Metadata.Name = "found"
	if err := hub.Store.Objects.Put(ctx, found); err != nil {
		t.Fatal(err)
	}
	if _, err := c.BMCs.Accept(ctx, "found", protoapi.AcceptBMC{CredentialsRef: "local:x"}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a pin: %v", err)
	}
	b, err := c.BMCs.Accept(ctx, "found", protoapi.AcceptBMC{CredentialsRef: "local:x", CA: "pem"})
	if err != nil || b.Pending() || b.Status.AcceptedBy != "admin" {
		t.Errorf("accepted %+v, %v", b.Status, err)
	}
	hub.Fleet.SetServer("n1", resource.ServerStatus{Report: &resource.ServerReport{Identity: "new"}})
	if _, err := c.Servers.Accept(ctx, "n1", protoapi.AcceptServer{Identity: "old"}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("another identity: %v", err)
	}
	if s, err := c.Servers.Accept(ctx, "n1", protoapi.AcceptServer{Identity: "new"}); err != nil || s.Status.AcceptedIdentity != "new" {
		t.Errorf("accepted %q, %v", s.Status.AcceptedIdentity, err)
	}
	var recorded []protocol.AuditOutcome // each acceptance by itself, also of many
	for _, e := range hub.Records.Entries() {
		if e.Target == "Server/n1" && e.Op == "accept" {
			recorded = append(recorded, e.Outcome)
		}
	}
	if want := []protocol.AuditOutcome{protocol.AuditAsked, protocol.AuditRefused, protocol.AuditAsked, protocol.AuditAccepted}; !slices.Equal(recorded, want) {
		t.Errorf("recorded %v, want %v", recorded, want)
	}
	hub.Fleet.SetServer("n1", resource.ServerStatus{Report: &resource.ServerReport{TPM: &resource.TPMReport{Enrolment: "e1"}}})
	if _, err := c.Servers.ReEnrol(ctx, "n1", protoapi.ReEnrolServer{Enrolment: "e0"}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("another enrolment: %v", err)
	}
	if s, err := c.Servers.ReEnrol(ctx, "n1", protoapi.ReEnrolServer{Enrolment: "e1"}); err != nil || s.Status.ForgetTPM != "e1" {
		t.Errorf("to be forgotten: %q, %v", s.Status.ForgetTPM, err)
	}
	recorded = nil
	for _, e := range hub.Records.Entries() {
		if e.Target == "Server/n1" && e.Op == "re-enrol" {
			recorded = append(recorded, e.Outcome)
		}
	}
	if want := []protocol.AuditOutcome{protocol.AuditAsked, protocol.AuditRefused, protocol.AuditAsked, protocol.AuditAccepted}; !slices.Equal(recorded, want) {
		t.Errorf("recorded %v, want %v", recorded, want)
	}
	hub.Fleet.SetProbe("b1", []protocol.Probe{{Profile: "dell"}}, nil)
	if list, err := c.BMCs.Probe(ctx, "b1", protoapi.ProbeRequest{}); err != nil || len(list.Items) != 1 || list.Items[0].Profile != "dell" {
		t.Errorf("probed %+v, %v", list, err)
	}
	if _, err := c.BMCs.Probe(ctx, "b1", protoapi.ProbeRequest{SystemURI: "Systems/1"}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("no path: %v", err)
	}
	hub.Fleet.SetProbe("b1", nil, protocol.Errorf(protocol.CodeDenied, "probe", "refused").WithHint("correct the file"))
	if _, err := c.BMCs.Probe(ctx, "b1", protoapi.ProbeRequest{}); protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) != "correct the file" {
		t.Errorf("refused by the BMC: %v", err)
	}
}

// A list has inventories in brief: with boot options, thousands of them are too long.
func TestListOfBMCsIsBrief(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	hub.Fleet.SetBMC("b1", resource.BMCStatus{Inventory: []protocol.Inventory{{
		Model: "SYS-1", SafeStop: protocol.SafeStop{Class: protocol.SafeStopNone}, BootOptions: []protocol.BootOption{{Reference: "Boot0001"}},
	}}})
	one, err := protoapi.Get[*resource.BMC](t.Context(), c, "b1")
	if err != nil || len(one.Status.Inventory[0].BootOptions) != 1 {
		t.Fatalf("one: %+v, %v", one, err)
	}
	all, err := protoapi.GetAll[*resource.BMC](t.Context(), c)
	if err != nil || len(all[0].Status.Inventory) != 1 {
		t.Fatalf("all: %+v, %v", all, err)
	}
	if inv := all[0].Status.Inventory[0]; len(inv.BootOptions) != 0 || inv.Model != "SYS-1" || inv.SafeStop.Class != protocol.SafeStopNone {
		t.Errorf("in a list: %+v", inv)
	}
}
