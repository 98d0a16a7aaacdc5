package daemon

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/hub/pki"
	"rackboot/protocol"
)

const externalConfig = "dataDir: /var/lib/rackboot-hub\napi: 0.0.0.0:8443\nnames: [hub.example]\nbroker:\n  url: mqtts://mqtt.example:8883\n"

// Every error names the file, the field and what to do.
func TestBrokerConfig(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string // empty: accepted
	}{
		{"own listener with QoS 1", goodConfig + "broker: {qos: 1}\n", nil},
		{"external", externalConfig, nil},
		{"external with all", externalConfig + "  agents: mqtts://dmz.example\n  caFile: /ca\n  certFile: /c\n  keyFile: /k\n  qos: 1\n", nil},
		{"external on loopback", strings.Replace(externalConfig, "mqtts://mqtt.example:8883", "mqtt://127.0.0.1:1883", 1), nil},
		{"both", externalConfig + "mqtt: 0.0.0.0:8883\n", []string{"mqtt", "broker.url", "remove one"}},
		{"neither", strings.Replace(goodConfig, "mqtt: 0.0.0.0:8883\n", "", 1), []string{"mqtt", "broker.url", "give it"}},
		{"plain elsewhere", strings.Replace(externalConfig, "mqtts:", "mqtt:", 1), []string{"broker.url", "loopback", "unprotected"}},
		{"another scheme", strings.Replace(externalConfig, "mqtts:", "wss:", 1), []string{"broker.url", "mqtts"}},
		{"a password", strings.Replace(externalConfig, "mqtts://", "mqtts://u:secret@", 1), []string{"broker.url"}},
		{"agents' address", externalConfig + "  agents: dmz.example\n", []string{"broker.agents", "mqtts"}},
		{"half a certificate", externalConfig + "  certFile: /c\n", []string{"broker.certFile", "broker.keyFile", "both"}},
		{"QoS 2", goodConfig + "broker: {qos: 2}\n", []string{"broker.qos", "0 or 1"}},
		{"a CA without a broker", goodConfig + "broker: {caFile: /ca}\n", []string{"broker.caFile", "broker.url"}},
		{"unknown field", goodConfig + "broker: {user: x}\n", []string{"user"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hub.yaml")
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadConfig(path)
			if len(row.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if protocol.CodeOf(err) != protocol.CodeInvalid || strings.Contains(err.Error(), "secret") {
				t.Fatalf("got %v", err)
			}
			for _, want := range append(row.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; it does not say %q", err, want)
				}
			}
		})
	}
}

// What hub and agents dial, and with which keys.
func TestRoute(t *testing.T) {
	dir := t.TempDir()
	keys, err := pki.Open(filepath.Join(dir, "pki"), nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := pki.Open(filepath.Join(dir, "other"), nil)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, pair := file("ca.pem", other.CAPEM()), filepath.Join(dir, "other", "hub.pem")
	const url = "mqtts://mqtt.example"
	for _, row := range []struct {
		name        string
		broker      Broker
		own         string
		hub, agents string
		ca          []byte
		bad         string // the field that an error names
	}{
		{"own", Broker{QoS: 1}, "0.0.0.0:8883", "mqtts://127.0.0.1:8883", "mqtts://hub.example:8883", keys.CAPEM(), ""},
		{"own on one address", Broker{}, "192.0.2.1:99", "mqtts://192.0.2.1:99", "mqtts://hub.example:99", keys.CAPEM(), ""},
		{"external", Broker{URL: url}, "", url, url, keys.CAPEM(), ""},
		{"external, other address for agents", Broker{URL: url, Agents: "mqtts://dmz.example"}, "", url, "mqtts://dmz.example", keys.CAPEM(), ""},
		{"external, other keys", Broker{URL: url, CAFile: ca, CertFile: pair, KeyFile: pair}, "", url, url, other.CAPEM(), ""},
		{"no CA file", Broker{URL: url, CAFile: "/nonexistent"}, "", "", "", nil, "broker.caFile"},
		{"no certificate in it", Broker{URL: url, CAFile: file("empty", nil)}, "", "", "", nil, "broker.caFile"},
		{"key of another", Broker{URL: url, CertFile: pair, KeyFile: ca}, "", "", "", nil, "broker.keyFile"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Config{Names: []string{"hub.example"}, Broker: row.broker}
			r, err := c.route(keys, row.own)
			if row.bad != "" {
				if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.bad) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.hub != row.hub || r.agents != row.agents || !bytes.Equal(r.ca, row.ca) || r.qos != row.broker.QoS {
				t.Errorf("got %s, %s, QoS %d", r.hub, r.agents, r.qos)
			}
			shown, err := r.tls.GetClientCertificate(&tls.CertificateRequestInfo{})
			if err != nil {
				t.Fatal(err)
			}
			from := keys
			if row.broker.CertFile != "" {
				from = other
			}
			want, err := from.ClientTLS().GetClientCertificate(&tls.CertificateRequestInfo{})
			if err != nil || !bytes.Equal(shown.Certificate[0], want.Certificate[0]) {
				t.Errorf("the wrong certificate is shown (%v)", err)
			}
		})
	}
}
