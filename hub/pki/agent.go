package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"time"

	"rackboot/protocol"
)

const (
	maxRequest = 16 << 10 // bytes of PEM
	// MaxAgentValidity bounds the life of an agent's certificate.
	MaxAgentValidity = 400 * 24 * time.Hour
)

// IssueAgent signs the key of a PKCS #10 request (RFC 2986) for an agent. Only
// the key is taken from the request; the common name is agentID and the
// certificate is for client use only. It ends with the authority's certificate
// at the latest. Errors: invalid for a bad request, id or validity.
func (p *PKI) IssueAgent(csrPEM []byte, agentID string, validity time.Duration) (certPEM []byte, err error) {
	const op = "pki.IssueAgent"
	if !protocol.ValidName(agentID) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%q is not an agent id", agentID).
			WithHint("use 1 to 63 of a-z, 0-9 and -")
	}
	if validity <= 0 || validity > MaxAgentValidity {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "validity %s is not between 0 and %s", validity, MaxAgentValidity)
	}
	key, err := parseRequest(csrPEM)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "certificate request of agent %s: %w", agentID, err).
			WithHint("send one PEM block %q, signed by an Ed25519 or P-256 key", blockRequest)
	}
	now := p.now()
	cert, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: agentID},
		NotBefore:   now.Add(-min(backdate, validity/10)),
		NotAfter:    p.ca.until(now.Add(validity)),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, &p.ca, publicOnly{p.ca.key, key})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot sign for agent %s: %w", agentID, err)
	}
	return cert.certPEM(), nil
}

// publicOnly is the agent's public key where sign asks for a key.
type publicOnly struct {
	crypto.Signer
	public crypto.PublicKey
}

func (p publicOnly) Public() crypto.PublicKey { return p.public }

// parseRequest returns the public key of a request that it has signed.
func parseRequest(csrPEM []byte) (crypto.PublicKey, error) {
	if len(csrPEM) > maxRequest {
		return nil, fmt.Errorf("it is %d bytes large, the limit is %d", len(csrPEM), maxRequest)
	}
	block, rest := pem.Decode(csrPEM)
	if block == nil || block.Type != blockRequest || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("it is not one PEM block %q", blockRequest)
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	switch key := request.PublicKey.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("curve %s is not P-256", key.Curve.Params().Name)
		}
	default:
		return nil, fmt.Errorf("key type %s is neither Ed25519 nor ECDSA", request.PublicKeyAlgorithm)
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("the request is not signed by its key: %w", err)
	}
	return request.PublicKey, nil
}
