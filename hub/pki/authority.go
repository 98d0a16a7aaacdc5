package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

const (
	nextCA  = "ca-next.pem"
	oldCAs  = "ca-old.pem"
	untilIn = "Trusted-Until" // a header in oldCAs
)

// former is an authority that was replaced: certificates of agents that it signed go
// on until their ends.
type former struct {
	cert  *x509.Certificate
	until time.Time
}

// loadAuthorities reads the next authority and the former ones.
func (p *PKI) loadAuthorities() error {
	data, err := p.dir.read(nextCA)
	if err != nil {
		return err
	}
	if data != nil {
		next, err := parsePair(data)
		if err != nil || !next.cert.IsCA {
			return p.dir.broken(nextCA, fmt.Errorf("it is not an authority: %w", err))
		}
		if p.next = &next; next.cert.Equal(p.ca.cert) {
			p.next = nil // a crash came after it was taken
			if err := p.dir.remove(nextCA); err != nil {
				return err
			}
		}
	}
	if data, err = p.dir.read(oldCAs); err != nil {
		return err
	}
	for len(bytes.TrimSpace(data)) > 0 {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return p.dir.broken(oldCAs, fmt.Errorf("it is not PEM"))
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return p.dir.broken(oldCAs, err)
		}
		until, err := time.Parse(time.RFC3339, block.Headers[untilIn])
		if err != nil {
			return p.dir.broken(oldCAs, err)
		}
		if p.now().Before(until) && !cert.Equal(p.ca.cert) {
			p.former = append(p.former, former{cert, until})
		}
	}
	return nil
}

// StageCA makes the next authority. It signs nothing yet: agents are told to trust it
// first. It may be called again. No hub may run on the folder.
func (p *PKI) StageCA() error {
	if p.next != nil {
		return nil
	}
	next, data, err := p.newCA()
	if err != nil {
		return err
	}
	if err := p.dir.write(nextCA, data); err != nil {
		return err
	}
	p.next = &next
	p.crash.At("pki.ca.staged")
	return nil
}

// FinishCA lets the next authority sign from now on. The one before loses its key;
// what it signed for agents is good until its end. No hub may run on the folder.
// Errors: conflict if none was staged.
func (p *PKI) FinishCA() error {
	if p.next == nil {
		return protocol.Errorf(protocol.CodeConflict, "pki.FinishCA", "there is no next authority").
			WithHint("run rackboot-hub keys rotate-ca first, and start the hub until all agents have it")
	}
	data, err := p.next.marshal()
	if err != nil {
		return err
	}
	until := p.now().Add(MaxAgentValidity)
	if p.ca.cert.NotAfter.Before(until) {
		until = p.ca.cert.NotAfter
	}
	p.former = append(p.former, former{p.ca.cert, until})
	var old []byte
	for _, f := range p.former {
		old = append(old, pem.EncodeToMemory(&pem.Block{
			Type: blockCertificate, Bytes: f.cert.Raw, Headers: map[string]string{untilIn: f.until.UTC().Format(time.RFC3339)},
		})...)
	}
	if err := p.dir.write(oldCAs, old); err != nil {
		return err
	}
	p.crash.At("pki.ca.former")
	if err := p.dir.write(caFile, data); err != nil {
		return err
	}
	p.crash.At("pki.ca.taken")
	p.ca, p.next = *p.next, nil
	return p.dir.remove(nextCA)
}

// Staged says whether there is a next authority that does not sign yet.
func (p *PKI) Staged() bool { return p.next != nil }

// authorities are all whose certificates are trusted: the present first.
func (p *PKI) authorities() []*x509.Certificate {
	all := []*x509.Certificate{p.ca.cert}
	if p.next != nil {
		all = append(all, p.next.cert)
	}
	for _, f := range p.former {
		all = append(all, f.cert)
	}
	return all
}

// Trusts says whether a certificate, in DER, is one of the authorities that agents trust: the
// present one, the next, or one that was replaced and whose certificates may still be in use.
func (p *PKI) Trusts(der []byte) bool {
	for _, a := range p.authorities() {
		if bytes.Equal(a.Raw, der) {
			return true
		}
	}
	return false
}

// BundlePEM are the authorities that agents shall trust for the hub's certificate: the
// present one and the next.
func (p *PKI) BundlePEM() []byte {
	out := p.ca.certPEM()
	if p.next != nil {
		out = append(out, p.next.certPEM()...)
	}
	return out
}

// Fingerprint is that of the present authority's certificate, which the hub shows
// beside its own.
func (p *PKI) Fingerprint() string { return api.Fingerprint(p.ca.cert.Raw) }
