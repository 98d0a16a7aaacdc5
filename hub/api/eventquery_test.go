package api_test

import (
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Events are asked for by what they are about, by rack, code and time; the pages are as long as without.
func TestEventsAreAskedFor(t *testing.T) {
	h := apitest.New(t)
	c, ctx := h.Client(t), t.Context()
	if _, err := c.Objects.Apply(ctx, storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	claim := &resource.Claim{Spec: resource.ClaimSpec{ServerRef: &resource.Ref{Name: "n2"}, Power: resource.WantOn, Image: "registry.example/os:1"}}
	claim.Kind, claim.APIVersion, claim.Metadata.Name = resource.KindClaim, resource.APIVersion, "mine"
	if _, err := c.Objects.Apply(ctx, []resource.Object{claim}, false); err != nil {
		t.Fatal(err)
	}
	stored, err := h.Store.Objects.Get(resource.KindClaim, "mine")
	if err != nil {
		t.Fatal(err)
	}
	stored.(*resource.Claim).Status.Server = "n2"
	if err := h.Store.Objects.Put(ctx, stored); err != nil {
		t.Fatal(err)
	}
	agent := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}, Key: make([]byte, 32), Term: 1}}
	agent.Metadata.Name = "a1"
	if err := h.Store.Objects.Put(ctx, agent); err != nil {
		t.Fatal(err)
	}
	h.Fleet.AddEvent("n1", resource.ConditionCode(resource.EventHoldEnforced), "1")
	h.Fleet.AddEvent("n2", resource.ConditionCode(resource.EventBound), "2")
	h.Fleet.AddEvent("gone", resource.ConditionCode(resource.EventBound), "3")
	h.Fleet.AddEvent("", resource.ConditionCode(resource.EventJoined), "4")
	h.Fleet.AddEvent("n1", resource.ConditionCode(resource.EventBound), "5")
	for _, row := range []struct {
		query protoapi.EventQuery
		want  string
	}{
		{protoapi.EventQuery{}, "12345"},
		{protoapi.EventQuery{For: "Server/n1"}, "15"},
		{protoapi.EventQuery{For: "servers/n1"}, "15"},
		{protoapi.EventQuery{For: "Claim/mine"}, "2"},
		{protoapi.EventQuery{For: "Claim/none"}, ""},
		{protoapi.EventQuery{For: "Agent/a1"}, "12345"},
		{protoapi.EventQuery{For: "Rack/r1"}, "1245"},
		{protoapi.EventQuery{For: "BMC/b1"}, ""},
		{protoapi.EventQuery{Rack: "r1"}, "1245"},
		{protoapi.EventQuery{Rack: "r2"}, ""},
		{protoapi.EventQuery{Codes: []resource.EventCode{resource.EventBound}}, "235"},
		{protoapi.EventQuery{Codes: []resource.EventCode{resource.EventBound, resource.EventJoined}, Rack: "r1"}, "245"},
		{protoapi.EventQuery{Since: apitest.Now()}, "12345"},
		{protoapi.EventQuery{Since: apitest.Now().Add(time.Second)}, ""},
		{protoapi.EventQuery{For: "Server/n1", After: 1}, "5"},
	} {
		for _, limit := range []int{1, 2, 100} {
			query, got := row.query, ""
			query.Limit = limit
			for range 10 {
				list, err := c.EventsOf(ctx, query)
				if err != nil {
					t.Fatalf("%+v: %v", query, err)
				}
				for _, e := range list.Items {
					got += e.Message
				}
				if len(list.Items) < limit {
					break
				}
				query.After = list.Next
			}
			if got != row.want {
				t.Errorf("%+v: events %s, want %s", query, got, row.want)
			}
		}
	}
	for query, want := range map[string]protocol.Code{"n1": protocol.CodeInvalid, "Pod/n1": protocol.CodeInvalid, "Server/": protocol.CodeInvalid} {
		_, err := c.EventsOf(ctx, protoapi.EventQuery{For: query, Limit: 1})
		wantCode(t, err, want)
	}
	_, err = c.EventsOf(ctx, protoapi.EventQuery{Codes: []resource.EventCode{"Nonsense"}, Limit: 1})
	wantCode(t, err, protocol.CodeInvalid)
}
