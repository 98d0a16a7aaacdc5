package bootcert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"

	"rackboot/netboot"
)

const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "PRIVATE KEY"
)

// Pair is a certificate with the intermediates that are sent along, and its key.
type Pair struct {
	Chain []*x509.Certificate // the certificate first
	Key   crypto.Signer
}

// parsePair reads PEM. What it returns belongs together; [Check] says whether it
// serves. The error never has anything of the key in it.
func parsePair(certificates, key []byte) (p Pair, err error) {
	if p.Chain, err = parseCertificates(certificates); err != nil {
		return Pair{}, err
	}
	if p.Key, err = parseKey(key); err != nil {
		return Pair{}, err
	}
	public, ok := p.Key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(p.Chain[0].PublicKey) {
		return Pair{}, errors.New("the key is not that of the first certificate")
	}
	return p, nil
}

// parseCertificates reads at least one.
func parseCertificates(data []byte) (out []*x509.Certificate, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != blockCertificate {
			continue // a parameter block, or a text of the authority
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(out)+1, err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no certificate in PEM")
	}
	return out, nil
}

// parseKey reads PKCS #8, and the older forms that openssl writes.
func parseKey(data []byte) (crypto.Signer, error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case blockKey:
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the key is encrypted; the agent starts without anybody to ask")
		default:
			continue // EC PARAMETERS
		}
		if err != nil {
			return nil, errors.New("the key cannot be read")
		}
		if s, ok := key.(crypto.Signer); ok {
			return s, nil
		}
		return nil, errors.New("the key cannot sign")
	}
	return nil, errors.New("there is no private key in PEM")
}

// Kind is the kind of the key; empty for one that HTTPS boot does not use.
func (p Pair) Kind() netboot.KeyKind {
	switch p.Key.(type) {
	case *ecdsa.PrivateKey:
		return netboot.KeyECDSA
	case *rsa.PrivateKey:
		return netboot.KeyRSA
	}
	return ""
}

// Leaf is the certificate itself.
func (p Pair) Leaf() *x509.Certificate { return p.Chain[0] }

// Names is what the certificate is for.
func (p Pair) Names() Names { return NamesOf(p.Leaf()) }

// TLS is the pair for crypto/tls, with the leaf parsed.
func (p Pair) TLS() *tls.Certificate {
	c := &tls.Certificate{PrivateKey: p.Key, Leaf: p.Leaf()}
	for _, x := range p.Chain {
		c.Certificate = append(c.Certificate, x.Raw)
	}
	return c
}

// NamesOf is what a certificate is for, by its subjectAltName.
func NamesOf(c *x509.Certificate) Names {
	n := Names{DNS: c.DNSNames}
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			n.Addrs = append(n.Addrs, a.Unmap())
		}
	}
	return n
}

// KeyName is the key of a certificate for people: RSA-3072, P-256.
func KeyName(c *x509.Certificate) string {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA-%d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return k.Params().Name
	}
	return c.PublicKeyAlgorithm.String()
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: c.Raw})
}

func keyPEM(k crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), nil
}
