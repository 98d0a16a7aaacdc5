package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// webhookRoutes shows where the hub sends events, and has it send again what was given up. A hub without
// them lists none.
type webhookRoutes struct {
	room Webhooks // nil is none
	lost losses
}

// maxRetried bounds how many letters a request names: no webhook has more.
const maxRetried = 200

func (w webhookRoutes) routes(t *route.Table) {
	ready := func() error {
		if w.room == nil {
			return protocol.Errorf(protocol.CodeUnsupported, "webhooks", "this hub has none")
		}
		return nil
	}
	one := protoapi.PathWebhooks + "/{name}"
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathWebhooks, "webhooks", "Say where the hub sends events, and how far it is", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.WebhookList], error) {
			out := protoapi.WebhookList{Items: []protoapi.Webhook{}, Incomplete: w.lost.of(ctx, "")}
			if w.room != nil {
				out.Items = w.room.List()
			}
			return &answer[protoapi.WebhookList]{out}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, one+"/dead", "webhookDead", "Read the events of a webhook that were given up", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(ctx context.Context, in *named) (*answer[protoapi.WebhookLetters], error) {
			if err := ready(); err != nil {
				return nil, route.Problem(err)
			}
			out, err := w.room.Dead(in.Name)
			if err != nil {
				return nil, route.Problem(err)
			}
			out.Incomplete = w.lost.of(ctx, "")
			return &answer[protoapi.WebhookLetters]{out}, nil
		})
	route.Register(t, t.Operation(http.MethodPost, one+"/retry", "retryWebhook", "Have events that were given up sent once more; idempotent", reflect.TypeFor[protoapi.WebhookRetry](),
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Noted: "retry"}),
		func(ctx context.Context, in *namedBody) (*answer[protoapi.WebhookRetried], error) {
			const op = "retry webhook"
			var req protoapi.WebhookRetry
			if err := ready(); err != nil {
				return nil, route.Problem(err)
			}
			if err := route.Body(op, in.RawBody, &req); err != nil {
				return nil, err
			}
			if len(req.IDs) > maxRetried {
				return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, op, "%d ids are more than %d", len(req.IDs), maxRetried).WithHint("name none for all"))
			}
			n, err := w.room.Retry(ctx, in.Name, req.IDs)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.WebhookRetried]{protoapi.WebhookRetried{Letters: n}}, nil
		})
	route.Register(t, t.Operation(http.MethodPost, one+"/test", "testWebhook", "Send something that is no event, and wait for the answer", nil,
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Noted: "test"}),
		func(ctx context.Context, in *named) (*answer[protoapi.WebhookTested], error) {
			if err := ready(); err != nil {
				return nil, route.Problem(err)
			}
			out, err := w.room.Test(ctx, in.Name)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.WebhookTested]{out}, nil
		})
}

// Webhooks send events; see package webhooks. They are used concurrently.
type Webhooks interface {
	List() []protoapi.Webhook
	Dead(name string) (protoapi.WebhookLetters, error)
	Retry(ctx context.Context, name string, ids []string) (int, error)
	Test(ctx context.Context, name string) (protoapi.WebhookTested, error)
}
