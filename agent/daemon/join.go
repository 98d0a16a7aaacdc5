package daemon

import (
	"context"
	"os"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// Join makes the agent's keys, spends the token at the hub, and keeps what it
// answers. ca is PEM of the hub's CA: without it nothing is sent, because the
// token would go to whoever answers.
func Join(ctx context.Context, c Config, hub, token string, ca []byte) (agent string, err error) {
	const op = "join"
	if _, err := os.Stat(identityPath(c.DataDir)); err == nil {
		return "", protocol.Errorf(protocol.CodeConflict, op, "%s exists: this agent has joined", identityPath(c.DataDir)).
			WithHint("to join anew, stop the agent and remove that file; its holds and leases stay")
	}
	client, err := api.NewClient(api.Config{BaseURL: hub, CA: ca})
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	id, request, err := newIdentity(token, host)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if id.Answer, err = client.Join(ctx, request); err != nil {
		return "", err
	}
	if err := id.save(c.DataDir); err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "the identity could not be kept: %w", err).
			WithHint("correct the disk, then join again with a new token")
	}
	return id.Answer.Agent, nil
}
