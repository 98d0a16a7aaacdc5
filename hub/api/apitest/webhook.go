package apitest

import (
	"context"
	"sync"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// CannedWebhooks are hub/api.Webhooks: pager, which has given up event 7-ab and takes tests, and away, which
// takes nothing. They are safe for concurrent use.
type CannedWebhooks struct {
	mu    sync.Mutex
	again bool
}

// then is when all of it happened.
func then() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// List implements api.Webhooks.
func (c *CannedWebhooks) List() []protoapi.Webhook {
	at := then().Add(-time.Minute)
	return []protoapi.Webhook{
		{Name: "pager", Host: "https://pager.example", Codes: []resource.EventCode{resource.EventHoldViolated}, Position: 9, Newest: 9, Delivered: 4, Dead: 1},
		{
			Name: "away", Host: "https://away.example", Position: 2, Newest: 9, Failures: 3, Waiting: &protoapi.WebhookWaiting{ID: "3-cd", Filed: at, Attempts: 3, Next: then()},
			Failure: &protoapi.WebhookFailure{At: at, Code: protoapi.WebhookFailing, Status: 503},
		},
	}
}

// Dead implements api.Webhooks.
func (c *CannedWebhooks) Dead(name string) (out protoapi.WebhookLetters, err error) {
	out.Items = []protoapi.WebhookLetter{}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch name {
	case "pager":
		out.Items = append(out.Items, protoapi.WebhookLetter{
			ID: "7-ab", Type: "io.rackboot.event.HoldViolated", Subject: "Server/n1", Filed: then(), Attempts: 1, Again: c.again,
			Failure: protoapi.WebhookFailure{At: then(), Code: protoapi.WebhookRefused, Status: 400}, CloudEvent: []byte(`{"id":"7-ab"}`),
		})
	case "away":
	default:
		err = protocol.Errorf(protocol.CodeNotFound, "find webhook", "the hub's file has no webhook %q", name)
	}
	return out, err
}

// Retry implements api.Webhooks.
func (c *CannedWebhooks) Retry(_ context.Context, name string, ids []string) (int, error) {
	dead, err := c.Dead(name)
	switch {
	case err != nil:
		return 0, err
	case len(ids) > 0 && (len(dead.Items) == 0 || ids[0] != dead.Items[0].ID):
		return 0, protocol.Errorf(protocol.CodeNotFound, "retry webhook", "1 of 1 ids are those of no dead letter")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again = c.again || len(dead.Items) > 0
	return len(dead.Items), nil
}

// Test implements api.Webhooks.
func (c *CannedWebhooks) Test(_ context.Context, name string) (protoapi.WebhookTested, error) {
	_, err := c.Dead(name)
	if name == "pager" {
		return protoapi.WebhookTested{Taken: true, Status: 204, Seconds: 0.012}, err
	}
	return protoapi.WebhookTested{Code: protoapi.WebhookTimeout, Seconds: 10}, err
}
