package api_test

import (
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// A viewer sees webhooks and what they gave up, an operator sends it again; neither who only stops servers nor
// whose scope is a row may.
func TestWebhooks(t *testing.T) {
	hub := apitest.New(t)
	viewer, operator, row := hub.ClientOf(t, apitest.TokenOf("viewer")), hub.ClientOf(t, apitest.TokenOf("operator")), hub.ClientOf(t, apitest.TokenOf("row7"))
	if l, err := viewer.Webhooks.List(t.Context()); err != nil || len(l.Items) != 2 || l.Items[0].Name != "pager" {
		t.Errorf("%+v, %v", l, err)
	}
	if d, err := viewer.Webhooks.Dead(t.Context(), "pager"); err != nil || len(d.Items) != 1 || string(d.Items[0].CloudEvent) == "" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := viewer.Webhooks.Dead(t.Context(), "none"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("one that is none: %v", err)
	}
	for name, c := range map[string]*protoapi.Client{"viewer": viewer, "fencer": hub.ClientOf(t, apitest.TokenOf("fencer")), "row7": row} {
		if _, err := c.Webhooks.Retry(t.Context(), "pager", protoapi.WebhookRetry{}); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("sent again by %s: %v", name, err)
		}
		if _, err := c.Webhooks.Test(t.Context(), "pager"); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("tried by %s: %v", name, err)
		}
	}
	if _, err := row.Webhooks.Dead(t.Context(), "pager"); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("events of all rows, seen by row7: %v", err)
	}
	if n, err := operator.Webhooks.Retry(t.Context(), "pager", protoapi.WebhookRetry{IDs: []string{"7-ab"}}); err != nil || n.Letters != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := operator.Webhooks.Retry(t.Context(), "pager", protoapi.WebhookRetry{IDs: make([]string, 201)}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("too many ids: %v", err)
	}
	if r, err := operator.Webhooks.Test(t.Context(), "away"); err != nil || r.Taken || r.Code != protoapi.WebhookTimeout {
		t.Errorf("%+v, %v", r, err)
	}
}
