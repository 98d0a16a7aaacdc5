package netboot

import "crypto/tls"

// KeyKind is the kind of key that a certificate of an HTTPS boot listener has.
type KeyKind string

// The kinds. Two certificates are held because no single one suits all firmware:
// see package httpboot.
const (
	KeyECDSA KeyKind = "ecdsa"
	KeyRSA   KeyKind = "rsa"
)

// Certificates holds the certificates of an HTTPS boot listener.
type Certificates interface {
	// Certificate is the certificate with a key of the kind as it is now, with its
	// Leaf parsed; nil if there is none. It is asked at each handshake, does not
	// block, and is safe for concurrent use.
	Certificate(kind KeyKind) *tls.Certificate
}
