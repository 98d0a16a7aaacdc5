package pki

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// HubIdentity is the common name of the hub's certificate. Its dot keeps it
// apart from every agent id.
const HubIdentity = "rackboot.hub"

const (
	hubValidity = 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
	backdate    = 5 * time.Minute // for peers whose clocks are slow
)

// identity is the set of names in the hub's certificate.
type identity struct {
	dns []string
	ips []net.IP
}

// dnsName is a name of labels, in lower case.
var dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// parseNames sorts the names and adds the loopback ones, which the hub's own
// link uses.
func parseNames(names []string) (identity, error) {
	var dns, ips []string
	for _, n := range append([]string{"localhost", "127.0.0.1", "::1"}, names...) {
		if a, err := netip.ParseAddr(n); err == nil && a.Zone() == "" {
			ips = append(ips, a.Unmap().String())
			continue
		}
		n = strings.ToLower(n)
		if len(n) > 253 || !dnsName.MatchString(n) {
			return identity{}, protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%q is neither a DNS name nor an IP address", n).
				WithHint("give the names under which agents and rackctl reach the hub, without port")
		}
		dns = append(dns, n)
	}
	slices.Sort(dns)
	slices.Sort(ips)
	id := identity{dns: slices.Compact(dns)}
	for _, ip := range slices.Compact(ips) {
		id.ips = append(id.ips, net.ParseIP(ip))
	}
	return id, nil
}

func (id identity) in(c *x509.Certificate) bool {
	return slices.Equal(id.dns, c.DNSNames) && slices.EqualFunc(id.ips, c.IPAddresses, net.IP.Equal)
}

// usable says whether the certificate may still be shown at the time.
func (p *PKI) usable(c *x509.Certificate, now time.Time) bool {
	return c.Subject.CommonName == HubIdentity && p.names.in(c) && c.CheckSignatureFrom(p.ca.cert) == nil &&
		!now.Before(c.NotBefore) && c.NotAfter.Sub(now) > renewBefore
}

// hubCertificate is the certificate to show now. A hub that runs for a year
// renews it without a restart. The authority's is shown beside it, for agents that know
// its fingerprint only. If that fails, the old one is shown while it is
// valid.
func (p *PKI) hubCertificate() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.hub.cert == nil || !p.usable(p.hub.cert, now) {
		if err := p.issueHub(now); err != nil && (p.hub.cert == nil || !now.Before(p.hub.cert.NotAfter)) {
			return nil, err
		}
	}
	return &tls.Certificate{Certificate: [][]byte{p.hub.cert.Raw, p.ca.cert.Raw}, PrivateKey: p.hub.key, Leaf: p.hub.cert}, nil
}

func (p *PKI) issueHub(now time.Time) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	hub, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: HubIdentity},
		DNSNames:    p.names.dns,
		IPAddresses: p.names.ips,
		NotBefore:   now.Add(-backdate),
		NotAfter:    p.ca.until(now.Add(hubValidity)),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &p.ca, key)
	if err != nil {
		return err
	}
	data, err := hub.marshal()
	if err != nil {
		return err
	}
	if err := p.dir.write(hubFile, data); err != nil {
		return err
	}
	p.hub = hub
	return nil
}

// until is the earlier of t and the end of the authority's certificate.
func (p pair) until(t time.Time) time.Time {
	if p.cert.NotAfter.Before(t) {
		return p.cert.NotAfter
	}
	return t
}
