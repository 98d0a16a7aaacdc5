package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"time"

	"rackboot/hub/access"
	"rackboot/protocol"
)

// MaxClientValidity bounds the life of the certificate of a caller of the API.
const MaxClientValidity = 400 * 24 * time.Hour

// ClientSuffix ends the common names of clients. Its dot keeps them apart from every
// agent id, so that the broker takes no client for an agent.
const ClientSuffix = ".client"

// IssueClient signs the key of a PKCS #10 request (RFC 2986) for a caller of the API.
// Only the key is taken from the request; the common name is name with ClientSuffix, the
// unit is access.ClientUnit, and the certificate is for client use only. Errors: invalid
// for a bad request, name or validity.
func (p *PKI) IssueClient(csrPEM []byte, name string, validity time.Duration) (certPEM []byte, err error) {
	const op = "pki.IssueClient"
	if !protocol.ValidName(name) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name for a client", name).
			WithHint("use 1 to 63 of a-z, 0-9 and -")
	}
	if validity <= 0 || validity > MaxClientValidity {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "validity %s is not between 0 and %s", validity, MaxClientValidity)
	}
	key, err := parseRequest(csrPEM)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "certificate request of client %s: %w", name, err).
			WithHint("send one PEM block %q, signed by an Ed25519 or P-256 key", blockRequest)
	}
	now := p.now()
	cert, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name + ClientSuffix, OrganizationalUnit: []string{access.ClientUnit}},
		NotBefore:   now.Add(-backdate),
		NotAfter:    p.ca.until(now.Add(validity)),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, &p.ca, publicOnly{p.ca.key, key})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot sign for client %s: %w", name, err)
	}
	return cert.certPEM(), nil
}
