package pki

import (
	"crypto/tls"
	"crypto/x509"
)

// ServerTLS is for the API: TLS 1.3, and a client certificate is checked where one is
// given: one of this authority, or of one of those for clients. Who has none has a token.
func (p *PKI) ServerTLS(clients ...*x509.Certificate) *tls.Config {
	c := p.server(tls.VerifyClientCertIfGiven)
	for _, ca := range clients {
		c.ClientCAs.AddCert(ca)
	}
	return c
}

// FollowingTLS is [PKI.ServerTLS] that asks at each handshake which authorities of clients there are.
func (p *PKI) FollowingTLS(clients func() []*x509.Certificate) *tls.Config {
	c := p.ServerTLS()
	c.NextProtos = []string{"h2", "http/1.1"}
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := p.ServerTLS(clients()...)
		now.NextProtos = c.NextProtos // net/http completes its own copy of c only
		return now, nil
	}
	return c
}

// BrokerTLS is for the MQTT listener: TLS 1.3 with a client certificate of this
// authority, checked anew for each connection.
func (p *PKI) BrokerTLS() *tls.Config {
	c := p.server(tls.RequireAndVerifyClientCert)
	c.SessionTicketsDisabled = true
	return c
}

// ClientTLS is for the hub's own MQTT link.
func (p *PKI) ClientTLS() *tls.Config {
	return &tls.Config{
		Time:       p.now,
		MinVersion: tls.VersionTLS13,
		RootCAs:    p.pool(),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return p.hubCertificate()
		},
	}
}

func (p *PKI) server(auth tls.ClientAuthType) *tls.Config {
	return &tls.Config{
		Time:       p.now,
		MinVersion: tls.VersionTLS13,
		ClientAuth: auth,
		ClientCAs:  p.pool(),
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return p.hubCertificate()
		},
	}
}

func (p *PKI) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range p.authorities() {
		pool.AddCert(c)
	}
	return pool
}
