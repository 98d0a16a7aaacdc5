package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"rackboot/protocol"
)

// Config says how NATS servers are reached.
type Config struct {
	// URLs are of the servers, nats://host:port on loopback and tls://host:port elsewhere. The hub needs one of them; of
	// the others the servers tell.
	URLs []string `yaml:"urls"`
	// Credentials is a file with a user's JWT and key, as nsc writes it. Empty needs CertFile, or an account that lets
	// everybody in.
	Credentials string `yaml:"credentials"`
	// CAFile is PEM of the authority that signed the servers' certificates. Default the system's.
	CAFile string `yaml:"caFile"`
	// CertFile and KeyFile are the hub's certificate for the servers, read anew for each connection.
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"`
	// Replicas is how many servers have all of the store: 1, 3 (default) or 5.
	Replicas int `yaml:"replicas"`
	// Name is that of this hub among those that share the store. Default: the host's, with - for what no name has.
	Name string `yaml:"name"`
	// Domain is the JetStream domain of the servers, where they are reached through a leaf node.
	Domain string `yaml:"domain"`
}

const (
	defaultReplicas = 3
	maxName         = 64 // as of Linux' host names; it is in what hubs sign of one another
	maxURLs         = 16
	nameRunes       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// Check says what is wrong with the fields, and sets defaults.
func (c *Config) Check() error {
	if len(c.URLs) == 0 || len(c.URLs) > maxURLs {
		return fmt.Errorf("store.nats.urls: %d are given; it is 1 to %d", len(c.URLs), maxURLs)
	}
	for _, text := range c.URLs {
		if err := checkURL(text); err != nil {
			return fmt.Errorf("store.nats.urls: %w", err)
		}
	}
	if c.Replicas == 0 {
		c.Replicas = defaultReplicas
	}
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		return fmt.Errorf("store.nats.replicas: %d is not 1, 3 or 5", c.Replicas)
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return fmt.Errorf("store.nats.certFile and store.nats.keyFile belong together: give both or none")
	}
	if c.Name == "" {
		host, _ := os.Hostname() // without one the hub says that a name is needed
		c.Name = strings.Map(func(r rune) rune {
			if strings.ContainsRune(nameRunes, r) {
				return r
			}
			return '-'
		}, host)
	}
	if c.Name == "" || len(c.Name) > maxName || strings.Trim(c.Name, nameRunes) != "" {
		return fmt.Errorf("store.nats.name: %q is not a name: use A-Z, a-z, 0-9, _ and -, at most %d of them", c.Name, maxName)
	}
	if strings.ContainsAny(c.Domain, " .*>$") {
		return fmt.Errorf("store.nats.domain: %q is not the name of a domain", c.Domain)
	}
	return nil
}

// checkURL refuses what would send the store over a network in the clear.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no URL", text)
	case u.User != nil:
		return fmt.Errorf("%s has a password; give credentials or certFile", u.Redacted())
	case u.Host == "" || u.Path != "" || u.Port() == "":
		return fmt.Errorf("%q is not tls://host:port", text)
	case u.Scheme == "tls":
		return nil
	case u.Scheme != "nats":
		return fmt.Errorf("%q is not tls://host:port", text)
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not encrypted; that is for loopback, and tls://host:port for all else", text)
	}
	return nil
}

// tls is nil where the files name nothing.
func (c *Config) tls() (*tls.Config, error) {
	const op = "connect to the store"
	if c.CAFile == "" && c.CertFile == "" {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "store.nats.caFile: %w", err).WithHint("the hub must be able to read the file")
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "store.nats.caFile: %s has no certificate", c.CAFile).
				WithHint("give the PEM file of the authority that signed the servers' certificates")
		}
	}
	if c.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "store.nats.certFile and store.nats.keyFile: %w", err).
				WithHint("give PEM files of a certificate that the servers trust, and of its key")
		}
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
			return &pair, err
		}
	}
	return out, nil
}
