package api

import (
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"

	"rackboot/protocol"
)

// errUnpinned says that a server's chain has no certificate with the fingerprint.
func errUnpinned() error {
	return protocol.Errorf(protocol.CodeDenied, "connect to hub", "the server shows no certificate with the fingerprint of the token").
		WithHint("the URL leads to another hub than the token's, or somebody is in between; nothing was sent")
}

// pin trusts the one authority that the fingerprint names. Its certificate comes with
// the server's, and everything else is checked as always: the chain, the name and the
// times.
func pin(c *tls.Config, fingerprint, host string) {
	// The callback verifies instead, for each connection: there is no pool before the
	// server has shown the certificate.
	c.InsecureSkipVerify = true
	now := c.Time
	c.VerifyConnection = func(s tls.ConnectionState) error {
		pool, found := x509.NewCertPool(), false
		for _, cert := range s.PeerCertificates {
			if cert.IsCA && subtle.ConstantTimeCompare([]byte(Fingerprint(cert.Raw)), []byte(fingerprint)) == 1 {
				pool.AddCert(cert)
				found = true
			}
		}
		if !found {
			return errUnpinned()
		}
		o := x509.VerifyOptions{Roots: pool, DNSName: host} // the state has no name for an address
		if now != nil {
			o.CurrentTime = now()
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}
