package broker

import (
	"bytes"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/hub/pki"
	"rackboot/protocol"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		writeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestCertificateIsRequired(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other, err := pki.Open(filepath.Join(t.TempDir(), "pki"), nil)
	if err != nil {
		t.Fatal(err)
	}
	good := agentTLS(t, s.keys, "rack-1")
	foreign := agentTLS(t, other, "rack-1")
	foreign.RootCAs = good.RootCAs
	none := good.Clone()
	none.Certificates = nil
	old := good.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for _, row := range []struct {
		name   string
		config *tls.Config
		ok     bool
	}{
		{"a certificate of this hub", good, true},
		{"no certificate", none, false},
		{"a certificate of another hub", foreign, false},
		{"TLS 1.2", old, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := mqtt.NewClient(options(s.broker.Addr(), row.config))
			token := c.Connect()
			if !token.WaitTimeout(patience) {
				t.Fatal("no answer")
			}
			if (token.Error() == nil) != row.ok {
				t.Errorf("connected %v, %v", row.ok, token.Error())
			}
			c.Disconnect(50)
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		conn, err := net.Dial("tcp", s.broker.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// CONNECT, MQTT 3.1.1, clean session, client id "x"
		if _, err := conn.Write([]byte("\x10\x0d\x00\x04MQTT\x04\x02\x00\x1e\x00\x01x")); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		reply := make([]byte, 4)
		if n, _ := conn.Read(reply); bytes.Equal(reply[:n], []byte{0x20, 2, 0, 0}) {
			t.Error("accepted")
		}
	})
}

// Only names that protocol.ValidName accepts get rights: a dot or a wildcard
// would reach into other trees.
func TestNamesWithoutRights(t *testing.T) {
	g := &gate{hub: pki.HubIdentity}
	for _, name := range []string{"", "*", ">", "a.b", "rack-1.u.>", "rack 1", "Rack", "-", "a/b", "+", "#", "rackboot.hub2", strings.Repeat("a", 64)} {
		if p, ok := g.permissions(name); ok || p != nil {
			t.Errorf("%q got %+v", name, p)
		}
	}
}

// The store outlives the broker; MQTT state does not.
func TestReopen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	store := func() jetstream.KeyValue {
		kv, err := bucket(t.Context(), s.broker)
		if err != nil {
			t.Fatal(err)
		}
		return kv
	}
	if _, err := store().Put(t.Context(), "claims.a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	agent := s.agent(t, "rack-1")
	if !agent.IsConnectionOpen() {
		t.Fatal("not connected")
	}
	s.broker.Close()
	s.broker.Close() // a second time does nothing
	if _, err := s.broker.Conn(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a closed broker: %v", err)
	}
	begin := time.Now()
	s.open()
	t.Logf("opened again in %s", time.Since(begin))
	if e, err := store().Get(t.Context(), "claims.a"); err != nil || string(e.Value()) != "1" {
		t.Errorf("%v, %v", e, err)
	}
	if granted, _ := subscribe(t, s.agent(t, "rack-1"), "rb/v1/a/rack-1/d/#", 0); !granted {
		t.Error("refused after the restart")
	}
}

// Sessions must not reach the disk: with a sync at each write, a fleet that
// reconnects would wait for it.
func TestMQTTStateIsInMemory(t *testing.T) {
	s := newSite(t)
	s.agent(t, "rack-1")
	nc, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for info := range js.ListStreams(t.Context()).Info() {
		if !strings.HasPrefix(info.Config.Name, mqttPrefix) {
			continue
		}
		count++
		if info.Config.Storage != jetstream.MemoryStorage || info.Config.MaxBytes <= 0 {
			t.Errorf("%s: storage %s, at most %d bytes", info.Config.Name, info.Config.Storage, info.Config.MaxBytes)
		}
	}
	if count != len(mqttStreams()) {
		t.Errorf("%d streams of MQTT, %d were made at start", count, len(mqttStreams()))
	}
}

func TestConfig(t *testing.T) {
	s := newSite(t)
	taken := s.broker.Addr()
	for _, row := range []struct {
		name   string
		change func(*Config)
		code   protocol.Code
	}{
		{"no port", func(c *Config) { c.MQTTListen = "127.0.0.1" }, protocol.CodeInvalid},
		{"no TLS", func(c *Config) { c.TLS = nil }, protocol.CodeInvalid},
		{"certificates not required", func(c *Config) { c.TLS = s.keys.ServerTLS() }, protocol.CodeInvalid},
		{"a hub named like an agent", func(c *Config) { c.HubIdentity = "rack-1" }, protocol.CodeInvalid},
		{"no folder", func(c *Config) { c.Dir = "" }, protocol.CodeInvalid},
		{"folder in use", func(*Config) {}, protocol.CodeUnavailable},
		{"port taken", func(c *Config) { c.Dir, c.MQTTListen = t.TempDir(), taken }, protocol.CodeUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := s.config()
			row.change(&c)
			b, err := Open(c)
			if err == nil {
				b.Close()
			}
			if protocol.CodeOf(err) != row.code {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	s := newSite(t)
	s.broker.Close()
	registry := prometheus.NewPedanticRegistry()
	c := s.config()
	c.Registerer = registry
	b, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s.broker = b
	s.serves(t)
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	// One hub and one agent, with a session each and at least a message in and out.
	leasts := map[string]float64{
		"rackboot_broker_connections": 2, "rackboot_broker_mqtt_sessions": 2, "rackboot_broker_subscriptions": 1,
		"rackboot_broker_messages_total": 2, "rackboot_broker_message_bytes_total": 2, "rackboot_broker_store_used_bytes": 1,
	}
	got := gathered(t, registry)
	// The last answer may be on its way to its connection still, and is counted after it.
	settled := func() bool {
		for name, least := range leasts {
			if got[name] < least {
				return false
			}
		}
		return got["rackboot_broker_pending_bytes"] == 0
	}
	for end := time.Now().Add(patience); !settled() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = gathered(t, registry)
	}
	for name, least := range leasts {
		if got[name] < least {
			t.Errorf("%s is %v, want at least %v", name, got[name], least)
		}
	}
	for _, name := range []string{"rackboot_broker_pending_bytes", "rackboot_broker_slow_consumers_total", "rackboot_broker_refused_total"} {
		if v, ok := got[name]; !ok || v != 0 {
			t.Errorf("%s is %v, %v", name, v, ok)
		}
	}
}

// gathered are the sums of all series of each metric.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return got
}

// Memory of an idle broker is a target of the hub; it is logged, not judged.
func TestIdleMemory(t *testing.T) {
	newSite(t)
	runtime.GC()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(status))[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RSS of the test process with an idle broker: %d MiB", pages*os.Getpagesize()>>20)
}
