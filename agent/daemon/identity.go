package daemon

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// identity is what joining gave the agent. It is one file, so that it is there
// whole or not at all.
type identity struct {
	Answer  api.JoinAnswer `json:"answer"`
	Key     []byte         `json:"key"`     // Ed25519 seed; signs reports
	LinkKey []byte         `json:"linkKey"` // PEM, of the certificate
	// Hub is the URL that it joined at.
	Hub string `json:"hub"`
	// Keys are the hub's, followed from the one that it gave at joining.
	Keys wire.Keys `json:"keys"`
	// Spare is a certificate that the hub made while a clock was wrong; see
	// decide.NextCertificate.
	Spare *spare `json:"spare,omitempty"`
}

// spare is a certificate with its key, both PEM.
type spare struct {
	Certificate []byte `json:"certificate"`
	LinkKey     []byte `json:"linkKey"`
}

func identityPath(dataDir string) string { return filepath.Join(dataDir, "identity", "agent.json") }

// newIdentity makes the agent's keys and the request for its certificate.
func newIdentity(token, host string) (identity, api.JoinRequest, error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	linkKey, csr, err := newLinkKey()
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	return identity{Key: key.Seed(), LinkKey: linkKey}, api.JoinRequest{Token: token, Host: host, Key: pub, CSR: csr}, nil
}

// newLinkKey makes a key for a certificate, and the request for it; both are PEM.
func newLinkKey() (key, csr []byte, err error) {
	link, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(link)
	if err != nil {
		return nil, nil, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "rackboot-agent"}}, link)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}), nil
}

func loadIdentity(dataDir string) (identity, error) {
	const op = "read the agent's identity"
	raw, err := os.ReadFile(identityPath(dataDir))
	if err != nil {
		return identity{}, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).
			WithHint("join first: rackctl rack join-token RACK prints the command")
	}
	var id identity
	if err := json.Unmarshal(raw, &id); err != nil || len(id.Key) != ed25519.SeedSize {
		return identity{}, protocol.Errorf(protocol.CodeInvalid, op, "%s is damaged", identityPath(dataDir)).
			WithHint("remove it and join again with a new token")
	}
	return id, nil
}

// save replaces the identity as a whole; it is on disk when save returns. Until then
// the one before is, with its key and certificate.
func (id identity) save(dataDir string, crash state.Crasher) error {
	raw, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return replaceFile(identityPath(dataDir), raw, "agent.identity", crash)
}

// pair is the certificate with its key.
func (id identity) pair() (tls.Certificate, *x509.Certificate, error) {
	const op = "read the agent's identity"
	pair, err := tls.X509KeyPair(id.Answer.Certificate, id.LinkKey)
	if err != nil {
		return pair, nil, protocol.Errorf(protocol.CodeInvalid, op, "the certificate does not fit its key: %w", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return pair, nil, protocol.Errorf(protocol.CodeInvalid, op, "the certificate cannot be read: %w", err)
	}
	return pair, leaf, nil
}

// withSpare is the identity with the spare certificate in the place of its own.
func (id identity) withSpare() identity {
	if id.Spare != nil {
		id.Answer.Certificate, id.LinkKey = id.Spare.Certificate, id.Spare.LinkKey
	}
	return id
}

// begin is the start of the certificate; zero if that cannot be read.
func (id identity) begin() time.Time {
	_, leaf, err := id.pair()
	if err != nil {
		return time.Time{}
	}
	return leaf.NotBefore
}

// brokerCA and hubCA are PEM of the authorities of the broker and of the API.
func (id identity) brokerCA() []byte {
	if s := id.Answer.Standing; len(s.BrokerCA) > 0 {
		return s.BrokerCA
	}
	return id.Answer.CA
}

func (id identity) hubCA() []byte {
	if s := id.Answer.Standing; len(s.HubCA) > 0 {
		return s.HubCA
	}
	return id.Answer.CA
}

// standby is the term of an agent that joined to stand by; 0 of others.
func (id identity) standby() uint64 {
	if !id.Answer.Standby {
		return 0
	}
	return id.Answer.Term
}

// brokers and apis are URLs in the order in which they are tried.
func (id identity) brokers() []string {
	if s := id.Answer.Standing; len(s.Brokers) > 0 {
		return s.Brokers
	}
	return []string{id.Answer.Broker}
}

func (id identity) apis() []string {
	if s := id.Answer.Standing; len(s.API) > 0 {
		return s.API
	}
	if id.Hub != "" {
		return []string{id.Hub}
	}
	return nil
}

// tls is the link's TLS: the hub's CA only, and the agent's certificate.
func (id identity) tls() (*tls.Config, error) {
	const op = "read the agent's identity"
	pair, _, err := id.pair()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(id.brokerCA()) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's CA is not a certificate")
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
