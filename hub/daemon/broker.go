package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/broker"
	"rackboot/hub/pki"
	"rackboot/protocol"
	"rackboot/protocol/link"
)

// Broker says which broker carries the link to the agents. Without a URL the hub
// runs one itself, on the address mqtt of the file.
type Broker struct {
	// URL is what the hub dials: mqtts://host:port, or mqtt:// on loopback.
	URL string `yaml:"url"`
	// Agents is what agents dial, where it is another address. Default URL.
	Agents string `yaml:"agents"`
	// CAFile is PEM of the CA that signed the broker's certificate. Agents are given
	// it when they join. Default the hub's own CA.
	CAFile string `yaml:"caFile"`
	// CertFile and KeyFile are the hub's certificate for the broker, read anew for
	// each connection. Default the hub's own, whose common name is rackboot.hub.
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"`
	// QoS is that of the link, for hub and agents: 0 (default) or 1.
	QoS byte `yaml:"qos"`
}

// checkLink judges the fields mqtt and broker.
func (c *Config) checkLink() error {
	b := &c.Broker
	if b.QoS > 1 {
		return fmt.Errorf("broker.qos: %d is not 0 or 1", b.QoS)
	}
	if b.URL == "" {
		for field, value := range map[string]string{"agents": b.Agents, "caFile": b.CAFile, "certFile": b.CertFile, "keyFile": b.KeyFile} {
			if value != "" {
				return fmt.Errorf("broker.%s is for a broker of your own: give its broker.url, or remove the field", field)
			}
		}
		if _, _, err := net.SplitHostPort(c.MQTT); err != nil {
			return fmt.Errorf("mqtt: %q is not host:port; give it, or the URL of a broker of your own in broker.url", c.MQTT)
		}
		return nil
	}
	if c.MQTT != "" {
		return fmt.Errorf("mqtt: the hub opens no MQTT listener with broker.url; remove one of the two")
	}
	if err := link.CheckBroker(b.URL); err != nil {
		return fmt.Errorf("broker.url: %w", err)
	}
	if b.Agents == "" {
		b.Agents = b.URL
	} else if err := link.CheckBroker(b.Agents); err != nil {
		return fmt.Errorf("broker.agents: %w", err)
	}
	if (b.CertFile == "") != (b.KeyFile == "") {
		return fmt.Errorf("broker.certFile and broker.keyFile belong together: give both, or none for the hub's own certificate")
	}
	return nil
}

// openBroker opens the server within the process: store and MQTT listener, or the
// store alone. refuse is asked for each connection of an agent; nil refuses none.
func openBroker(c Config, keys *pki.PKI, refuse func(agent string) bool, log *slog.Logger, reg prometheus.Registerer) (*broker.Broker, error) {
	return broker.Open(broker.Config{
		Dir: c.path("store"), MQTTListen: c.MQTT, TLS: keys.BrokerTLS(), HubIdentity: pki.HubIdentity, Refuse: refuse, Logger: log, Registerer: reg,
	})
}

// route is how hub and agents reach the broker.
type route struct {
	hub, agents string      // URLs
	ca          []byte      // PEM, for agents
	tls         *tls.Config // the hub's
	qos         byte
}

// route reads the files that the configuration names. own is the address of the
// hub's own listener.
func (c *Config) route(keys *pki.PKI, own string) (route, error) {
	b := c.Broker
	r := route{hub: b.URL, agents: b.Agents, ca: keys.BundlePEM(), tls: keys.ClientTLS(), qos: b.QoS}
	if b.URL == "" {
		host, port, err := net.SplitHostPort(own)
		if err != nil {
			return route{}, err
		}
		if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		// The hub talks to its own broker as it would to any other.
		r.hub, r.agents = "mqtts://"+net.JoinHostPort(host, port), "mqtts://"+net.JoinHostPort(c.Names[0], port)
		r.tls.ServerName = "127.0.0.1" // always in the hub's certificate, wherever the broker listens
		return r, nil
	}
	const op = "read the hub's file"
	if r.agents == "" {
		r.agents = b.URL
	}
	if b.CAFile != "" {
		var err error
		if r.ca, err = os.ReadFile(b.CAFile); err != nil {
			return route{}, protocol.Errorf(protocol.CodeInvalid, op, "broker.caFile: %w", err)
		}
		r.tls.RootCAs = x509.NewCertPool()
		if !r.tls.RootCAs.AppendCertsFromPEM(r.ca) {
			return route{}, protocol.Errorf(protocol.CodeInvalid, op, "broker.caFile: %s has no certificate", b.CAFile).
				WithHint("give the PEM file of the CA that signed the broker's certificate")
		}
	}
	if b.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(b.CertFile, b.KeyFile); err != nil {
			return route{}, protocol.Errorf(protocol.CodeInvalid, op, "broker.certFile and broker.keyFile: %w", err).
				WithHint("give PEM files of a certificate that the broker trusts, and of its key")
		}
		r.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(b.CertFile, b.KeyFile)
			return &pair, err
		}
	}
	return r, nil
}
