package daemon

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
)

// joined is an identity whose certificate is its own CA.
func joined(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "r1-1"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return identity{
		Answer:  api.JoinAnswer{Agent: "r1-1", Certificate: cert, CA: cert, Broker: "mqtts://hub.example", QoS: 1},
		LinkKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}),
	}
}

func TestLinkConfig(t *testing.T) {
	id, other := joined(t), joined(t)
	ca := write(t, "ca.pem", string(other.Answer.CA), 0o600)
	for _, row := range []struct {
		name, text string
		broker     string
		qos        byte
		first      time.Duration
		ownCA      bool
		bad        []string // what the error says
	}{
		{"nothing", "", "mqtts://hub.example", 1, 30 * time.Second, false, nil},
		{"all", "link: {broker: 'mqtts://mqtt.example:99', caFile: " + ca + ", qos: 0, firstDelay: 0s}\n", "mqtts://mqtt.example:99", 0, 0, true, nil},
		{"QoS alone", "link: {qos: 1}\n", "mqtts://hub.example", 1, 30 * time.Second, false, nil},
		{"not a URL", "link: {broker: mqtt.example}\n", "", 0, 0, false, []string{"link.broker", "mqtts"}},
		{"plain elsewhere", "link: {broker: 'mqtt://mqtt.example'}\n", "", 0, 0, false, []string{"link.broker", "loopback"}},
		{"QoS 2", "link: {qos: 2}\n", "", 0, 0, false, []string{"link.qos", "0 or 1"}},
		{"an API without TLS", "link: {api: ['https://hub.example', 'http://hub.example']}\n", "", 0, 0, false, []string{"link.api[1]", "https"}},
		{"negative delay", "link: {firstDelay: -1s}\n", "", 0, 0, false, []string{"link.firstDelay"}},
		{"unknown field", "link: {user: x}\n", "", 0, 0, false, []string{"user"}},
		{"no CA file", "link: {caFile: /nonexistent}\n", "", 0, 0, false, []string{"link.caFile"}},
		{"no certificate in it", "link: {caFile: " + write(t, "empty", "", 0o600) + "}\n", "", 0, 0, false, []string{"link.caFile"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := LoadConfig(write(t, "agent.yaml", goodConfig+row.text, 0o600))
			if err != nil && row.bad == nil {
				t.Fatal(err)
			}
			if err == nil {
				got, e := c.Link.config(id)
				err = e
				if row.bad == nil {
					pool := x509.NewCertPool()
					pool.AppendCertsFromPEM(id.Answer.CA)
					if e != nil || got.Broker != row.broker || got.QoS != row.qos || got.FirstDelay != row.first || got.TLS.RootCAs.Equal(pool) == row.ownCA {
						t.Errorf("%s, QoS %d, first connection within %s, %v", got.Broker, got.QoS, got.FirstDelay, e)
					}
					if !slices.Contains(got.Subscribe, message.TopicDown("r1-1", "#")) {
						t.Errorf("subscribes to %v", got.Subscribe)
					}
					return
				}
			}
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Fatalf("got %v", err)
			}
			for _, want := range row.bad {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; it does not say %q", err, want)
				}
			}
		})
	}
	// Tests make the configuration by hand and do not wait.
	if got, err := (Link{}).config(id); err != nil || got.FirstDelay != 0 {
		t.Errorf("%s, %v", got.FirstDelay, err)
	}
}

// lines are the lines of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// An agent that just joined dials at once and says what it waits for; one that joined
// before waits, and says that; one that does little until the hub has answered waits some seconds.
func TestFreshLink(t *testing.T) {
	for name, row := range map[string]struct {
		why  haste
		says []string
	}{
		"just joined":        {haste{fresh: true}, []string{"waits for the hub's first documents", "broker connection down"}},
		"joined before":      {haste{}, []string{"waits before the first connection"}},
		"waits for its word": {haste{waits: true}, []string{"waits before the first connection", "broker connection down"}},
	} {
		t.Run(name, func(t *testing.T) {
			said, wait := make(lines, 10), 10*time.Hour
			keep := &keeper{dataDir: t.TempDir(), clock: time.Now, id: joined(t)}
			l, err := Link{FirstDelay: &wait, Broker: "mqtts://127.0.0.1:1"}.dial(keep, nil, row.why, 0, slog.New(slog.NewTextHandler(said, nil)), prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = l.Run(ctx) })
			for _, want := range row.says {
				if line := <-said; !strings.Contains(line, want) {
					t.Errorf("%q, want %q", line, want)
				}
			}
			stop()
			running.Wait()
		})
	}
}
