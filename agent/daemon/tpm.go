package daemon

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"

	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
)

// maxAuthorities bounds the file of authorities of TPMs, in bytes.
const maxAuthorities = 1 << 20

// tpmAuthorities reads the authorities of TPMs from a file of PEM: what signed itself is believed, and
// the others lead there. An empty path has none. The error is invalid.
func tpmAuthorities(path string) (enrol.Authorities, error) {
	const op = "read tpmAuthorities"
	var out enrol.Authorities
	if path == "" {
		return out, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	if len(raw) > maxAuthorities {
		return out, protocol.Errorf(protocol.CodeInvalid, op, "%s has %d bytes, at most %d", path, len(raw), maxAuthorities)
	}
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" {
			return enrol.Authorities{}, protocol.Errorf(protocol.CodeInvalid, op, "a block of %s is no certificate", path)
		}
		if bytes.Equal(cert.RawSubject, cert.RawIssuer) {
			out.Roots = append(out.Roots, cert)
		} else {
			out.Intermediates = append(out.Intermediates, cert)
		}
	}
	if len(out.Roots) == 0 {
		return enrol.Authorities{}, protocol.Errorf(protocol.CodeInvalid, op, "%s has no certificate that signed itself", path).WithHint("add the root of the TPMs' maker in PEM")
	}
	return out, nil
}
