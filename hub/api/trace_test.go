package api_test

import (
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A viewer reads a trace; a wrong number, a server without one and a caller whose scope
// has not the server get none.
func TestTrace(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	hub.Fleet.SetTraces("n1", []resource.Trace{{Server: "n1", Serial: 1}, {Server: "n1", Serial: 2, Rows: []resource.TraceRow{{Seq: 1, Source: protocol.TraceHTTP}}}})
	viewer := hub.ClientOf(t, apitest.TokenOf("viewer"))
	if tr, err := viewer.Servers.Trace(t.Context(), "n1", 0); err != nil || tr.Serial != 2 || len(tr.Rows) != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
	if tr, err := viewer.Servers.Trace(t.Context(), "n1", 1); err != nil || tr.Serial != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
	if _, err := viewer.Servers.Trace(t.Context(), "n1", 3); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("one that is not kept: %v", err)
	}
	if _, err := viewer.Servers.Trace(t.Context(), "n1", -1); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("no number: %v", err)
	}
	if _, err := hub.ClientOf(t, apitest.TokenOf("row7")).Servers.Trace(t.Context(), "n1", 0); err == nil {
		t.Error("out of scope")
	}
}

// A viewer has a server read; an agent that does not answer, a server without one and a caller
// whose scope has not the server are told so.
func TestReadServer(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	viewer := hub.ClientOf(t, apitest.TokenOf("viewer"))
	if r, err := viewer.Servers.Read(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("an agent that does not answer: %+v, %v", r, err)
	}
	stopped := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	hub.Fleet.SetRead(resource.ServerRead{Server: "n1", Power: protocol.PowerOff, Proved: []resource.ProvedOff{{Hold: "h1", StoppedSince: stopped}}})
	r, err := viewer.Servers.Read(t.Context(), "n1")
	if err != nil || !r.Stands(resource.Receipt{HoldID: "h1", StoppedSince: stopped}) || r.Stands(resource.Receipt{HoldID: "h1", StoppedSince: stopped.Add(1)}) || r.Stands(resource.Receipt{HoldID: "h2", StoppedSince: stopped}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := hub.ClientOf(t, apitest.TokenOf("row7")).Servers.Read(t.Context(), "n1"); err == nil {
		t.Error("out of scope")
	}
}
