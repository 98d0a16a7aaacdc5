package oldtls

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
)

// Old is what of a connection is too old. The zero value is nothing.
type Old struct {
	Version        uint16 // below TLS 1.2; 0 is a version in use
	KeyExchange    uint16 // the cipher suite, one of [tls.InsecureCipherSuites]: keys by RSA, 3DES, CBC with SHA-256; 0 is a suite in use
	NegativeSerial bool   // the number of the certificate, of the BMC or of who signed it
}

// Of says what of a connection is too old.
func Of(state tls.ConnectionState) (o Old) {
	if state.Version < tls.VersionTLS12 {
		o.Version = state.Version
	}
	for _, suite := range tls.InsecureCipherSuites() {
		if suite.ID == state.CipherSuite {
			o.KeyExchange = suite.ID
		}
	}
	for _, cert := range state.PeerCertificates {
		if cert.SerialNumber != nil && cert.SerialNumber.Sign() < 0 {
			o.NegativeSerial = true
		}
	}
	return o
}

// String names it, for people.
func (o Old) String() string {
	var parts []string
	if o.Version != 0 {
		parts = append(parts, tls.VersionName(o.Version))
	}
	if o.KeyExchange != 0 {
		parts = append(parts, "cipher suite "+tls.CipherSuiteName(o.KeyExchange))
	}
	if o.NegativeSerial {
		parts = append(parts, "a certificate with a negative serial number")
	}
	return strings.Join(parts, ", ")
}

// Error is a connection that was given up for what of it is too old. Nothing was sent by it.
type Error struct {
	Old Old
}

func (e *Error) Error() string { return fmt.Sprintf("its TLS is too old: %s", e.Old) }

// Judges has a client complete handshakes with BMCs of old versions, and returns it. Old cipher suites are
// not offered: a BMC that has better ones, and prefers the old, would choose them. Who uses it looks at [Of]
// before anything is sent.
func Judges(c *tls.Config) *tls.Config {
	c.MinVersion = tls.VersionTLS10
	return c
}

// Look says by a handshake what of a BMC is too old that ended one. It is nothing where the cipher suites
// that are in use will do, and where no handshake is completed. Nothing is sent, and nothing is trusted. dial
// opens a connection; the context bounds it.
func Look(ctx context.Context, dial func(context.Context) (net.Conn, error)) (o Old) {
	shake := func(c *tls.Config) (state tls.ConnectionState, ok bool) {
		raw, err := dial(ctx)
		if err != nil {
			return state, false
		}
		defer func() { _ = raw.Close() }() // nothing was sent
		c.InsecureSkipVerify = true
		conn := tls.Client(raw, c)
		if conn.HandshakeContext(ctx) != nil {
			return state, false
		}
		return conn.ConnectionState(), true
	}
	if _, ok := shake(Judges(new(tls.Config))); ok {
		return o
	}
	if state, ok := shake(Dials(new(tls.Config))); ok {
		o = Of(state)
	}
	return o
}

// Dials has a client complete handshakes with old BMCs, and returns it. Who uses it looks at
// [Of] before anything is sent, or has been told to use such a BMC.
func Dials(c *tls.Config) *tls.Config {
	c.MinVersion = tls.VersionTLS10
	for _, suite := range tls.CipherSuites() {
		c.CipherSuites = append(c.CipherSuites, suite.ID)
	}
	for _, suite := range tls.InsecureCipherSuites() {
		if !broken[suite.ID] {
			c.CipherSuites = append(c.CipherSuites, suite.ID)
		}
	}
	return c
}

// Only has a client that is for an old BMC offer no more than such a one understands: a first message
// that fits into one packet, without the key shares of TLS 1.3, on which some hang up.
func Only(c *tls.Config) *tls.Config {
	c.MaxVersion = tls.VersionTLS12
	c.CurvePreferences = []tls.CurveID{tls.CurveP256, tls.CurveP384, tls.CurveP521, tls.X25519}
	return c
}

// broken suites are offered to nobody: RC4 (RFC 7465).
var broken = map[uint16]bool{
	tls.TLS_RSA_WITH_RC4_128_SHA:         true,
	tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: true,
	tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA:   true,
}
