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

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// identity is what joining gave the agent. It is one file, so that it is there
// whole or not at all.
type identity struct {
	Answer  api.JoinAnswer `json:"answer"`
	Key     []byte         `json:"key"`     // Ed25519 seed; signs reports
	LinkKey []byte         `json:"linkKey"` // PEM, of the certificate
}

func identityPath(dataDir string) string { return filepath.Join(dataDir, "identity", "agent.json") }

// newIdentity makes the agent's keys and the request for its certificate.
func newIdentity(token, host string) (identity, api.JoinRequest, error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	link, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(link)
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "rackboot-agent"}}, link)
	if err != nil {
		return identity{}, api.JoinRequest{}, err
	}
	id := identity{Key: key.Seed(), LinkKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
	return id, api.JoinRequest{
		Token: token, Host: host, Key: pub,
		CSR: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr}),
	}, nil
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

// save writes the identity; it is on disk when save returns.
func (id identity) save(dataDir string) error {
	path := identityPath(dataDir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(id)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(raw); err != nil {
		_ = f.Close() // the write's error says more
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close() // the sync's error says more
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // opened to sync only
	return dir.Sync()
}

// tls is the link's TLS: the hub's CA only, and the agent's certificate.
func (id identity) tls() (*tls.Config, error) {
	const op = "read the agent's identity"
	pair, err := tls.X509KeyPair(id.Answer.Certificate, id.LinkKey)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the certificate does not fit its key: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(id.Answer.CA) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's CA is not a certificate")
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
