package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"rackboot/hub/pki"
)

// patience is how long a test waits for what must come. The broker is as patient in
// tests, but where its own limits are tested: a busy machine takes seconds for a handshake.
const patience = time.Minute

func patient() limits {
	return limits{pending: maxPending, write: patience, tls: patience, auth: patience}
}

// ownHost is a loopback address of this package alone: whoever listens on it gets its port
// back after a restart, as no connection of anybody goes out from it.
const ownHost = "127.77.0.1"

// site is a hub's keys and its broker.
type site struct {
	t      testing.TB
	keys   *pki.PKI
	store  string
	broker *Broker
	change func(*Config) // may be nil
}

func newSite(t testing.TB) *site { return newSiteWith(t, nil) }

// newSiteWith changes the configuration of the broker.
func newSiteWith(t testing.TB, change func(*Config)) *site {
	t.Helper()
	dir := t.TempDir()
	keys, err := pki.Open(filepath.Join(dir, "pki"), []string{ownHost})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, keys: keys, store: filepath.Join(dir, "store"), change: change}
	s.open()
	t.Cleanup(func() { s.broker.Close() })
	return s
}

func (s *site) config() Config {
	c := Config{
		Dir: s.store, MQTTListen: "127.0.0.1:0", TLS: s.keys.BrokerTLS(), HubIdentity: pki.HubIdentity,
		Logger: slog.New(slog.DiscardHandler), limits: patient(),
	}
	if s.change != nil {
		s.change(&c)
	}
	return c
}

func (s *site) open() {
	s.t.Helper()
	b, err := Open(s.config())
	if err != nil {
		s.t.Fatal(err)
	}
	s.broker = b
}

// agentTLS joins an agent and returns its side of the connection.
func agentTLS(t testing.TB, keys *pki.PKI, id string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := keys.IssueAgent(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), id, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(cert)
	config := keys.ClientTLS()
	config.GetClientCertificate = nil
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{block.Bytes}, PrivateKey: key}}
	return config
}

func options(addr string, config *tls.Config) *mqtt.ClientOptions {
	return mqtt.NewClientOptions().AddBroker("mqtts://" + addr).SetTLSConfig(config).
		SetProtocolVersion(4).SetClientID(rand.Text()[:20]).SetCleanSession(true).
		SetAutoReconnect(false).SetConnectTimeout(patience).SetWriteTimeout(patience)
}

// client connects until the test ends.
func (s *site) client(t testing.TB, o *mqtt.ClientOptions) mqtt.Client {
	t.Helper()
	c := mqtt.NewClient(o)
	await(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(50) })
	return c
}

func (s *site) agent(t testing.TB, id string) mqtt.Client {
	t.Helper()
	return s.client(t, options(s.broker.Addr(), agentTLS(t, s.keys, id)))
}

func (s *site) hub(t testing.TB) mqtt.Client {
	t.Helper()
	return s.client(t, options(s.broker.Addr(), s.keys.ClientTLS()))
}

func await(t testing.TB, token mqtt.Token) {
	t.Helper()
	if !token.WaitTimeout(patience) {
		t.Fatal("no answer from the broker")
	}
	if err := token.Error(); err != nil {
		t.Fatal(err)
	}
}

// subscribe returns whether the filter was granted, and what arrives for it.
func subscribe(t testing.TB, c mqtt.Client, filter string, qos byte) (bool, <-chan string) {
	t.Helper()
	got := make(chan string, 64)
	token := c.Subscribe(filter, qos, func(_ mqtt.Client, m mqtt.Message) { got <- m.Topic() + "=" + string(m.Payload()) })
	await(t, token)
	return token.(*mqtt.SubscribeToken).Result()[filter] < 0x80, got
}

func receive(t testing.TB, got <-chan string, want string) {
	t.Helper()
	select {
	case m := <-got:
		if m != want {
			t.Errorf("got %q, want %q", m, want)
		}
	case <-time.After(patience):
		t.Errorf("%q did not arrive", want)
	}
}
