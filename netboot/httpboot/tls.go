package httpboot

import (
	"crypto/tls"
	"slices"

	"rackboot/netboot"
	"rackboot/protocol"
)

// ecdsaSuites are the suites of TLS 1.2 for the ECDSA certificate.
var ecdsaSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}

// rsaSuites are the suites of TLS 1.2 for the RSA certificate.
//
// The last two have RSA key exchange, which Go leaves out unless it is named: they
// keep no secret once the certificate's key is known. EDK2 built without elliptic
// curves offers nothing else that Go speaks (009d and 009c; the rest is DHE and
// CBC). Whoever offers ECDHE gets ECDHE: crypto/tls orders by strength, not by
// this list.
var rsaSuites = []uint16{
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
}

// tlsConfig is the TLS of an HTTPS listener.
func tlsConfig(certificates netboot.Certificates, m *metrics) *tls.Config {
	// No NextProtos: a server with a list refuses clients that offer others (ALPN, RFC
	// 7301 section 3.2), and without one they speak HTTP/1.1 as if they had not asked.
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		CipherSuites: slices.Concat(ecdsaSuites, rsaSuites),
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			ecdsa, rsa := certificates.Certificate(netboot.KeyECDSA), certificates.Certificate(netboot.KeyRSA)
			kind := choose(ecdsa != nil, rsa != nil, offerOf(hello, curveOf(ecdsa)))
			m.hellos.WithLabelValues(helloLabel(kind)).Inc()
			switch kind {
			case netboot.KeyECDSA:
				return ecdsa, nil
			case netboot.KeyRSA:
				return rsa, nil
			default:
				return nil, protocol.Errorf(protocol.CodeUnavailable, "HTTPS boot server", "there is no certificate")
			}
		},
		VerifyConnection: func(state tls.ConnectionState) error { // after the handshake
			m.handshakes.WithLabelValues(exchange(state)).Inc()
			return nil
		},
		// Records of 16 KiB from the first byte: nobody reads a boot file as it comes.
		DynamicRecordSizingDisabled: true,
	}
}

func helloLabel(kind netboot.KeyKind) string {
	if kind == "" {
		return "none"
	}
	return string(kind)
}

// exchange names how a handshake agreed on its keys.
func exchange(state tls.ConnectionState) string {
	switch {
	case state.Version >= tls.VersionTLS13:
		return "tls13"
	case state.CipherSuite == tls.TLS_RSA_WITH_AES_128_GCM_SHA256 || state.CipherSuite == tls.TLS_RSA_WITH_AES_256_GCM_SHA384:
		return "rsa"
	default:
		return "ecdhe"
	}
}
