package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/clock"
)

const (
	caValidity = 10 * 365 * 24 * time.Hour
	caName     = "Rackboot CA"
	tokenBytes = 32
)

// PKI holds the hub's keys. It is safe for concurrent use.
type PKI struct {
	dir    folder
	names  identity
	ca     pair
	signer *wire.Signer
	first  ed25519.PublicKey // the first everyday key
	keys   wire.Keys
	next   *pair // the next authority; nil if there is none
	former []former
	token  string
	now    func() time.Time
	crash  state.Crasher

	mu  sync.Mutex
	hub pair // shown by the listeners; renewed in time
}

// Open loads the keys from dir, or makes them when there are none. names are the
// DNS names and IP addresses of the hub; loopback is always added. The hub's
// certificate is issued again when they change.
//
// Errors: invalid for bad names and damaged or missing files, denied for files
// that others may read, unavailable if the disk fails.
func Open(dir string, names []string) (*PKI, error) { return open(dir, names, clock.Now) }

func open(dir string, names []string, now func() time.Time, crash ...state.Crasher) (*PKI, error) {
	p := &PKI{dir: folder(dir), now: now}
	for _, c := range crash {
		p.crash = c
	}
	var err error
	if p.names, err = parseNames(names); err != nil {
		return nil, err
	}
	if err := p.dir.prepare(); err != nil {
		return nil, err
	}
	ca, err := p.dir.read(caFile)
	if err != nil {
		return nil, err
	}
	hub, err := p.dir.read(hubFile)
	if err != nil {
		return nil, err
	}
	if ca == nil && hub != nil {
		return nil, p.lost(caFile)
	}
	if err := p.loadSigner(ca == nil); err != nil {
		return nil, err
	}
	if err := p.loadChain(); err != nil {
		return nil, err
	}
	if err := p.loadToken(); err != nil {
		return nil, err
	}
	if ca == nil {
		if ca, err = p.makeCA(); err != nil {
			return nil, err
		}
	}
	if p.ca, err = parsePair(ca); err != nil {
		return nil, p.dir.broken(caFile, err)
	}
	if !p.ca.cert.IsCA || !now().Before(p.ca.cert.NotAfter) {
		return nil, p.dir.broken(caFile, fmt.Errorf("the certificate ended on %s or is not an authority's", p.ca.cert.NotAfter.Format(time.DateOnly)))
	}
	if err := p.loadAuthorities(); err != nil {
		return nil, err
	}
	if hub != nil {
		// A damaged one is issued again: nobody has pinned it.
		p.hub, _ = parsePair(hub)
	}
	if _, err := p.hubCertificate(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *PKI) lost(name string) error {
	return protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%s is missing, and agents trust it", filepath.Join(string(p.dir), name)).
		WithHint("restore it from the backup; to start anew, empty the folder and join every agent again")
}

func (p *PKI) makeCA() ([]byte, error) {
	_, data, err := p.newCA()
	if err != nil {
		return nil, err
	}
	return data, p.dir.write(caFile, data)
}

// newCA makes an authority; nothing is written.
func (p *PKI) newCA() (pair, []byte, error) {
	key, err := newKey()
	if err != nil {
		return pair{}, nil, err
	}
	now := p.now()
	ca, err := sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: caName},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caValidity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, nil, key)
	if err != nil {
		return pair{}, nil, err
	}
	data, err := ca.marshal()
	return ca, data, err
}

// loadSigner makes the signing key only while there is no authority yet.
func (p *PKI) loadSigner(first bool) error {
	data, err := p.dir.read(signingFile)
	if err != nil {
		return err
	}
	if data == nil {
		if !first {
			return p.lost(signingFile)
		}
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return err
		}
		if data, err = marshalKey(key); err != nil {
			return err
		}
		if err := p.dir.write(signingFile, data); err != nil {
			return err
		}
	}
	key, err := parseKey(data)
	if err != nil {
		return p.dir.broken(signingFile, err)
	}
	edKey, ok := key.(ed25519.PrivateKey)
	if !ok {
		return p.dir.broken(signingFile, fmt.Errorf("the key is not an Ed25519 key"))
	}
	p.signer = wire.NewSigner(edKey)
	return nil
}

func (p *PKI) loadToken() error {
	data, err := p.dir.read(tokenFile)
	if err != nil {
		return err
	}
	if data == nil {
		secret := make([]byte, tokenBytes)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		data = []byte(base64.RawURLEncoding.EncodeToString(secret) + "\n")
		if err := p.dir.write(tokenFile, data); err != nil {
			return err
		}
	}
	p.token = strings.TrimSpace(string(data))
	if raw, err := base64.RawURLEncoding.DecodeString(p.token); err != nil || len(raw) != tokenBytes {
		return protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%s is not a token of %d bytes in base64url", p.AdminTokenPath(), tokenBytes).
			WithHint("remove the file to have a new token made")
	}
	return nil
}

// CAPEM is the authority's certificate.
func (p *PKI) CAPEM() []byte { return p.ca.certPEM() }

// Signer signs documents and grants.
func (p *PKI) Signer() *wire.Signer { return p.signer }

// AdminToken is the bearer token of the API. Never log it.
func (p *PKI) AdminToken() string { return p.token }

// AdminTokenPath is the file that holds the token.
func (p *PKI) AdminTokenPath() string { return filepath.Join(string(p.dir), tokenFile) }
