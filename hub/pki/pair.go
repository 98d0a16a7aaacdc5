package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "PRIVATE KEY"
	blockRequest     = "CERTIFICATE REQUEST"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// sign makes a certificate for key; parent nil makes it sign itself.
func sign(template *x509.Certificate, parent *pair, key crypto.Signer) (pair, error) {
	issuer, issuerKey := template, key
	if parent != nil {
		issuer, issuerKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return pair{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return pair{cert, key}, err
}

func (p pair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: p.cert.Raw})
}

func (p pair) marshal() ([]byte, error) {
	key, err := marshalKey(p.key)
	if err != nil {
		return nil, err
	}
	return append(p.certPEM(), key...), nil
}

func marshalKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), nil
}

// parsePair reads what marshal wrote and checks that the two belong together.
func parsePair(data []byte) (pair, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != blockCertificate {
		return pair{}, fmt.Errorf("it does not begin with a certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return pair{}, err
	}
	key, err := parseKey(rest)
	if err != nil {
		return pair{}, err
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(cert.PublicKey) {
		return pair{}, fmt.Errorf("the key is not the certificate's")
	}
	return pair{cert, key}, nil
}

func parseKey(data []byte) (crypto.Signer, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != blockKey || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("it does not hold one private key at its end")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the private key cannot be read")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the private key cannot sign")
	}
	return signer, nil
}
