package rig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// brokerFiles writes the files of the broker: a certificate that is its own CA, who may what, and the settings. The
// rules are those of configs/brokers, which integration/brokers tests.
func (s *Site) brokerFiles() error {
	path, err := program("mosquitto")
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(s.ports["mqtt"])
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"broker.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		"broker.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}),
		"mosquitto.acl": []byte("user rackboot.hub\ntopic write rb/v1/a/+/d/#\ntopic write rb/v1/h/#\ntopic read rb/v1/a/+/u/#\n" +
			"pattern write rb/v1/a/%u/u/#\npattern read rb/v1/a/%u/d/#\npattern read rb/v1/h/#\n"),
		"mosquitto.conf": fmt.Appendf(nil, "listener %s 127.0.0.1\nuser root\ncafile %s\nrequire_certificate true\nuse_identity_as_username true\nallow_anonymous false\n"+
			"certfile %s\nkeyfile %s\nacl_file %s\npersistence false\nretain_available false\nmax_qos 1\nmax_packet_size 262144\nmax_queued_messages 1000\n",
			port, s.path("hub-ca.pem"), s.path("broker.pem"), s.path("broker.key"), s.path("mosquitto.acl")),
	} {
		if err := os.WriteFile(s.path(name), text, 0o600); err != nil {
			return err
		}
	}
	s.Several.Mosquitto = newProcess("mosquitto", s.path("mosquitto.log"), path, nil, "-c", s.path("mosquitto.conf"))
	return nil
}
