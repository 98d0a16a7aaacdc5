package redfish

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"rackboot/bmc"
	"rackboot/bmc/oldtls"
	"rackboot/protocol"
)

const fingerprintPrefix = "sha256:"

// certificateError says that a BMC showed a certificate other than the pinned
// one. Got is public: it is what an operator compares and accepts.
type certificateError struct {
	want, got string
}

func (e *certificateError) Error() string {
	return fmt.Sprintf("certificate has fingerprint %s, pinned is %s", e.got, e.want)
}

// tlsFor makes the TLS configuration that a target asks for: nil for http.
// Exactly one of fingerprint and CA is needed for https.
func tlsFor(base *url.URL, target bmc.Target) (*tls.Config, error) {
	c, err := trust(base, target)
	if c == nil || err != nil {
		return nil, err
	}
	if target.LegacyTLS {
		return oldtls.Only(oldtls.Dials(c)), nil
	}
	oldtls.Judges(c)
	known := c.VerifyConnection
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if known != nil {
			if err := known(state); err != nil {
				return err
			}
		}
		if old := oldtls.Of(state); old != (oldtls.Old{}) {
			return &oldtls.Error{Old: old}
		}
		return nil
	}
	return c, nil
}

// trust says by what a BMC is known; the version of TLS is left to who uses it.
func trust(base *url.URL, target bmc.Target) (*tls.Config, error) {
	const op = "bmc.open"
	if base.Scheme == "http" {
		return nil, nil
	}
	switch {
	case target.Fingerprint != "" && len(target.CA) > 0:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "both a fingerprint and a CA are given for %s", base).
			WithHint("give one of them")
	case target.Fingerprint != "":
		return pinned(target.Fingerprint)
	case len(target.CA) > 0:
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(target.CA) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CA for %s holds no certificate", base).
				WithHint("give certificates in PEM form")
		}
		return &tls.Config{RootCAs: pool}, nil //nolint:gosec // the version is judged by tlsFor
	default:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "neither a fingerprint nor a CA is given for %s", base).
			WithHint("give the sha256 fingerprint of the BMC's certificate, compared on its console, or the CA that signed it")
	}
}

// pinned trusts one leaf certificate, whatever its names, dates and issuer:
// BMCs come with self-signed certificates and wrong clocks.
func pinned(fingerprint string) (*tls.Config, error) {
	want, err := hex.DecodeString(strings.TrimPrefix(fingerprint, fingerprintPrefix))
	if err != nil || len(want) != sha256.Size || !strings.HasPrefix(fingerprint, fingerprintPrefix) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "bmc.open", "fingerprint %q is not sha256:<64 hex digits>", fingerprint).
			WithHint("openssl x509 -outform der | sha256sum prints the digits")
	}
	return &tls.Config{ //nolint:gosec // the version is judged by tlsFor
		// The chain is not looked at; VerifyConnection, which also runs for a
		// resumed session, is the check.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return &certificateError{want: fingerprint, got: "none"}
			}
			got := sha256.Sum256(state.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare(got[:], want) != 1 {
				return &certificateError{want: fingerprint, got: fingerprintPrefix + hex.EncodeToString(got[:])}
			}
			return nil
		},
	}, nil
}
