package daemon

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/wire"
)

// Join makes the agent's keys, spends the token at the hub, and keeps what it
// answers. The token names the certificate by which the hub is known; ca, PEM of the
// hub's CA, is needed for a token without one. Nothing is sent to a server that is not
// known so, because the token would go to whoever answers.
func Join(ctx context.Context, c Config, hub, token string, ca []byte) (agent string, err error) {
	const op = "join"
	if _, err := os.Stat(identityPath(c.DataDir)); err == nil {
		return "", protocol.Errorf(protocol.CodeConflict, op, "%s exists: this agent has joined", identityPath(c.DataDir)).
			WithHint("to join anew, stop the agent and remove that file; its holds and leases stay")
	}
	secret, fingerprint := api.SplitToken(token)
	known := api.Config{BaseURL: hub, CA: ca}
	switch {
	case fingerprint == "" && len(ca) == 0:
		return "", protocol.Errorf(protocol.CodeInvalid, op, "nothing says by which certificate the hub is known").
			WithHint("give the hub's ca.pem with --ca, or a token with a fingerprint: rackctl rack join-token RACK")
	case len(ca) == 0:
		known.Fingerprint = fingerprint
	case fingerprint != "" && !hasCertificate(ca, fingerprint):
		return "", protocol.Errorf(protocol.CodeDenied, op, "the CA is not the one that the token names").
			WithHint("leave --ca out: the token is enough; or take the ca.pem of the hub that made it")
	}
	client, err := api.NewClient(known)
	if err != nil {
		return "", err
	}
	defer client.CloseIdle()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	id, request, err := newIdentity(secret, host)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	seal, err := sealKey(c.DataDir)
	if err != nil {
		return "", err
	}
	request.SealKey = seal.Public()
	if id.Answer, err = client.Agents.Join(ctx, request); err != nil {
		return "", err
	}
	id.Hub = hub
	if id.Keys, err = wire.PinKeys(id.Answer.HubKey, id.Answer.Standing.KeyStatements); err != nil {
		return "", err
	}
	if err := id.save(c.DataDir, nil); err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "the identity could not be kept: %w", err).
			WithHint("correct the disk, then join again with a new token")
	}
	return id.Answer.Agent, nil
}

// hasCertificate says whether a certificate of the PEM text has the fingerprint.
func hasCertificate(text []byte, fingerprint string) bool {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return false
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && api.Fingerprint(cert.Raw) == fingerprint {
			return true
		}
	}
}
