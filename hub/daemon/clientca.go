package daemon

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"time"

	"rackboot/hub/pki"
	"rackboot/protocol"
)

// maxClientCA bounds the file of authorities in bytes.
const maxClientCA = 256 << 10

// readClientCA reads the authorities of clients; none if there is no file.
func (c *Config) readClientCA() ([]*x509.Certificate, error) {
	const op = "read clientCA"
	if c.ClientCA == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("correct clientCA in the hub's file, or leave it out")
	}
	out, err := certificates(raw)
	if err != nil || len(out) == 0 || len(raw) > maxClientCA {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has not only certificates in PEM, or none", c.ClientCA).
			WithHint("give the certificates of the authorities, and no keys")
	}
	for _, cert := range out {
		if !cert.IsCA {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has a certificate of %q, which is no authority", c.ClientCA, cert.Subject.CommonName).
				WithHint("give the certificate that signs those of clients")
		}
	}
	return out, nil
}

func certificates(raw []byte) (out []*x509.Certificate, err error) {
	for len(bytes.TrimSpace(raw)) > 0 {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil || block.Type != "CERTIFICATE" {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "there is more than certificates")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, cert)
	}
	return out, nil
}

// apart refuses the hub's own authority among those of clients: agents have its
// certificates, and each would be a caller.
func (c *Config) apart(clients []*x509.Certificate, own []byte) error {
	mine, err := certificates(own)
	if err != nil {
		return err
	}
	for _, a := range clients {
		for _, m := range mine {
			if bytes.Equal(a.RawSubjectPublicKeyInfo, m.RawSubjectPublicKeyInfo) {
				return protocol.Errorf(protocol.CodeInvalid, "read clientCA", "%s has the hub's own authority, which signs for agents too", c.ClientCA).
					WithHint("leave it out: certificates of rackboot-hub client-certificate are known without it")
			}
		}
	}
	return nil
}

// ClientCertificate signs the key of a request for a client of the API, by the hub's own
// authority. It returns the certificate and its common name. The hub may run meanwhile.
func ClientCertificate(c Config, name string, csrPEM []byte, validity time.Duration) (certPEM []byte, commonName string, err error) {
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return nil, "", err
	}
	certPEM, err = keys.IssueClient(csrPEM, name, validity)
	return certPEM, name + pki.ClientSuffix, err
}
