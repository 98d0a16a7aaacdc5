package sim

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"net"
	"time"
)

// newCertificate makes a self-signed certificate, as BMCs come with, and its
// fingerprint sha256:<hex of the DER>.
func newCertificate(old bool) (cert tls.Certificate, fingerprint string, err error) {
	if old {
		cert, err = newOldCertificate()
	} else {
		cert, err = newECCertificate()
	}
	if err != nil {
		return tls.Certificate{}, "", err
	}
	sum := sha256.Sum256(cert.Certificate[0])
	return cert, "sha256:" + hex.EncodeToString(sum[:]), nil
}

func template() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "simulated BMC"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func newECCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := template()
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// oldBits is the size of old BMCs' keys.
const oldBits = 1024

// newOldCertificate is one with a negative serial number, which the standard library does not make:
// the number of a good one is changed, and it is signed anew.
func newOldCertificate() (tls.Certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, oldBits)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := template()
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	// RFC 5280 section 4.1.
	var signed struct {
		TBS       asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	var tbs struct {
		Version                                int `asn1:"optional,explicit,default:0,tag:0"`
		Serial                                 *big.Int
		Algorithm                              pkix.AlgorithmIdentifier
		Issuer, Validity, Subject, SubjectInfo asn1.RawValue
		Extensions                             []pkix.Extension `asn1:"omitempty,optional,explicit,tag:3"`
	}
	if _, err := asn1.Unmarshal(der, &signed); err != nil {
		return tls.Certificate{}, err
	}
	if _, err := asn1.Unmarshal(signed.TBS.FullBytes, &tbs); err != nil {
		return tls.Certificate{}, err
	}
	tbs.Serial.Neg(tbs.Serial)
	raw, err := asn1.Marshal(tbs)
	if err != nil {
		return tls.Certificate{}, err
	}
	sum := sha256.Sum256(raw)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return tls.Certificate{}, err
	}
	signed.TBS, signed.Signature = asn1.RawValue{FullBytes: raw}, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	der, err = asn1.Marshal(signed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// tlsOf is how a BMC speaks TLS.
func tlsOf(cert tls.Certificate, wire WireRules) *tls.Config {
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if wire.OldTLS {
		c.MinVersion, c.MaxVersion, c.CipherSuites = tls.VersionTLS10, tls.VersionTLS10, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	}
	return c
}
