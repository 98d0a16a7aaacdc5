package fleet

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
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/wire"
	"rackboot/state/file"
)

// identity is what joining gave an agent.
type identity struct {
	Answer  api.JoinAnswer `json:"answer"`
	Key     []byte         `json:"key"`     // Ed25519 seed
	LinkKey []byte         `json:"linkKey"` // PEM
	Keys    wire.Keys      `json:"keys"`    // the hub's
}

// newIdentity makes keys, and the request to join with them.
func newIdentity(secret string) (id identity, q api.JoinRequest, err error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return id, q, err
	}
	linkKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return id, q, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(linkKey)
	if err != nil {
		return id, q, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "rackboot-sim"}}, linkKey)
	if err != nil {
		return id, q, err
	}
	id = identity{Key: key.Seed(), LinkKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
	return id, api.JoinRequest{
		Token: secret, Host: "rackboot-sim", Key: public, CSR: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr}),
	}, nil
}

// take keeps the hub's answer.
func (id *identity) take(answer api.JoinAnswer) (err error) {
	id.Answer = answer
	id.Keys, err = wire.PinKeys(answer.HubKey, answer.Standing.KeyStatements)
	return err
}

func (id identity) broker() string {
	if s := id.Answer.Standing; len(s.Brokers) > 0 {
		return s.Brokers[0]
	}
	return id.Answer.Broker
}

func (id identity) brokerCA() []byte {
	if s := id.Answer.Standing; len(s.BrokerCA) > 0 {
		return s.BrokerCA
	}
	return id.Answer.CA
}

// pair is the certificate with its key, if it is good for some time.
func (id identity) pair() (tls.Certificate, error) {
	const op = "read an identity"
	pair, err := tls.X509KeyPair(id.Answer.Certificate, id.LinkKey)
	if err != nil {
		return pair, protocol.Errorf(protocol.CodeInvalid, op, "agent %s: %w", id.Answer.Agent, err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err == nil && time.Until(leaf.NotAfter) < time.Hour {
		return pair, protocol.Errorf(protocol.CodeInvalid, op, "the certificate of agent %s ends at %s, and this one never renews it", id.Answer.Agent, leaf.NotAfter.Format(time.RFC3339)).
			WithHint("replace the agent (rackctl rack replace-agent), or begin with another hub, and with an empty folder")
	}
	return pair, err
}

// The files of a rack.
const (
	identityFile = "identity.json"
	diskFile     = "disk.json"
)

// load reads a file of a rack; found is false where there is none.
func load(dir, rack, file string, into any) (found bool, err error) {
	const op = "read what is kept of a rack"
	path := filepath.Join(dir, rack, file)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return false, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", path, err).WithHint("remove the folder, and begin with another hub")
	}
	return true, nil
}

// save writes one, whole or not at all.
func save(dir, rack, name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, rack)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return file.Replace(filepath.Join(folder, name), raw, 0o600)
}
