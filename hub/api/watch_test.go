package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A client is told what there is and what changes, each once, and a hub that stops is one that it waits for.
func TestClientWatches(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	var got []string
	for change, err := range c.Objects.Watch(t.Context(), resource.KindServer, protoapi.Query{Fields: "metadata.name!=n9", Only: "status.phase"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(change.Type, " ", change.Name, " ", change.Rack)))
		switch {
		case change.Type == protoapi.ChangeSynced:
			hub.Fleet.SetServer("n2", resource.ServerStatus{Phase: resource.PhaseAvailable})
		case change.Type == protoapi.ChangePut && change.Object.(*resource.Server).Status.Phase == resource.PhaseAvailable:
			if _, err := c.Objects.Delete(t.Context(), resource.KindServer, "n1"); err != nil {
				t.Fatal(err)
			}
		case change.Type == protoapi.ChangeGone:
			hub.EndWatches()
		}
		if change.Type == protoapi.ChangeBroken {
			if protocol.CodeOf(change.Err) != protocol.CodeUnavailable {
				t.Error(change.Err)
			}
			break
		}
	}
	if text := strings.Join(got, ", "); text != "put n1 r1, put n2 r1, synced, put n2 r1, gone n1, broken" {
		t.Error(text)
	}
}

// Who may not ask, and what is asked wrongly, is told so once.
func TestWatchRefuses(t *testing.T) {
	hub := apitest.New(t)
	for _, row := range []struct {
		token string
		kind  resource.Kind
		query protoapi.Query
		want  protocol.Code
	}{
		{"0123456789abcdef-nobody-at-all", resource.KindServer, protoapi.Query{}, protocol.CodeDenied},
		{apitest.TokenOf("viewer"), resource.KindSecret, protoapi.Query{}, protocol.CodeDenied},
		{apitest.Token, resource.KindServer, protoapi.Query{Selector: "in in in"}, protocol.CodeInvalid},
		{apitest.Token, resource.KindServer, protoapi.Query{Fields: "spec.none=1"}, protocol.CodeInvalid},
		{apitest.Token, resource.KindServer, protoapi.Query{Only: "status.fase"}, protocol.CodeInvalid},
		{apitest.Token, "Pod", protoapi.Query{}, protocol.CodeInvalid},
	} {
		n := 0
		for change, err := range hub.ClientOf(t, row.token).Objects.Watch(t.Context(), row.kind, row.query) {
			if n++; protocol.CodeOf(err) != row.want || n > 1 {
				t.Errorf("%s %+v: %+v, %v", row.kind, row.query, change, err)
				break
			}
		}
		if n == 0 {
			t.Errorf("%s %+v: told nothing", row.kind, row.query)
		}
	}
}

// The consumer's context ends a watch without an error.
func TestWatchEndsWithItsContext(t *testing.T) {
	hub := apitest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	for change, err := range hub.Client(t).Objects.Watch(ctx, resource.KindRack, protoapi.Query{}) {
		if err != nil || change.Type != protoapi.ChangeSynced {
			t.Errorf("%+v, %v", change, err)
		}
		cancel()
	}
	cancel()
}
