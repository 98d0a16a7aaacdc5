package daemon

import (
	"context"
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// hubAPI asks the hub's API for what was sealed for the agent, with the agent's
// certificate.
type hubAPI struct {
	keep *keeper
	apis []string // of the agent's file; in place of those that the hub tells
}

// Fetch implements files.UserData.
func (h hubAPI) Fetch(ctx context.Context, sealed string) (body []byte, err error) {
	return h.ask(ctx, "fetch user data", func(c *api.Client) ([]byte, error) {
		answer, err := c.Environments.Ignition(ctx, api.IgnitionRequest{Sealed: sealed})
		return answer.Body, err
	})
}

// FetchEnv implements files.Bundles.
func (h hubAPI) FetchEnv(ctx context.Context, sealed string) (body []byte, err error) {
	return h.ask(ctx, "fetch boot environment", func(c *api.Client) ([]byte, error) {
		answer, err := c.Environments.Bundle(ctx, api.EnvBundleRequest{Sealed: sealed})
		return answer.Body, err
	})
}

// ask asks the hub's endpoints in turn; a refusal is of the hub, whichever endpoint it
// came by.
func (h hubAPI) ask(ctx context.Context, op string, call func(*api.Client) ([]byte, error)) ([]byte, error) {
	id, apis := h.keep.now(), h.apis
	if len(apis) == 0 {
		apis = id.apis()
	}
	if len(apis) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no API of the hub is known: this agent joined with a release that kept none").
			WithHint("give link.api in the agent's file, or join anew")
	}
	var errs []error
	for _, url := range apis {
		body, err := h.askAt(url, id, call)
		if err == nil || protocol.CodeOf(err) == protocol.CodeDenied || ctx.Err() != nil {
			return body, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (h hubAPI) askAt(url string, id identity, call func(*api.Client) ([]byte, error)) ([]byte, error) {
	client, err := api.NewClient(api.Config{BaseURL: url, CA: id.hubCA(), Time: h.keep.time, Certificate: id.Answer.Certificate, Key: id.LinkKey})
	if err != nil {
		return nil, err
	}
	defer client.CloseIdle()
	return call(client)
}
