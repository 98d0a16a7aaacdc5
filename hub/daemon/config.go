package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"rackboot/protocol"
)

// Config is the hub's file.
type Config struct {
	// DataDir is the hub's folder; only the hub may read it.
	DataDir string `yaml:"dataDir"`
	API     string `yaml:"api"` // host:port of the HTTPS API
	// MQTT is host:port of the agents' MQTT listener. It is empty with a broker of
	// one's own.
	MQTT   string `yaml:"mqtt"`
	Broker Broker `yaml:"broker"`
	// Names are the DNS names and IP addresses under which the hub is reached; the
	// first is the one that agents are told to dial.
	Names []string `yaml:"names"`
	// Metrics is the address of the metrics page; empty is none.
	Metrics string `yaml:"metrics"`
	Images  Images `yaml:"images"`
	// Clients may use the API besides the admin.
	Clients []Client `yaml:"clients"`
}

// Images says how the hub reaches registries.
type Images struct {
	// Mirrors maps a registry host to the host that is asked instead.
	Mirrors map[string]string `yaml:"mirrors"`
	// PlainHTTP are the registry hosts that may be asked without TLS.
	PlainHTTP []string `yaml:"plainHTTP"`
	// CAFile is PEM of more CAs for registries.
	CAFile string `yaml:"caFile"`
}

// LoadConfig reads the file. Errors name file, line and field.
func LoadConfig(path string) (Config, error) {
	const op = "read the hub's file"
	raw, err := os.ReadFile(path)
	if err != nil {
		return Config{}, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("give its path with --config; configs/hub.yaml is an example")
	}
	var c Config
	if err := yaml.UnmarshalWithOptions(raw, &c, yaml.Strict()); err != nil {
		return Config{}, protocol.Errorf(protocol.CodeInvalid, op, "%s: %s", path, yaml.FormatError(err, false, true))
	}
	if err := c.check(); err != nil {
		return Config{}, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", path, err)
	}
	return c, nil
}

func (c *Config) check() error {
	if c.DataDir == "" {
		return fmt.Errorf("dataDir is needed")
	}
	if _, _, err := net.SplitHostPort(c.API); err != nil {
		return fmt.Errorf("api: %q is not host:port", c.API)
	}
	if err := c.checkLink(); err != nil {
		return err
	}
	if err := c.checkClients(); err != nil {
		return err
	}
	if len(c.Names) == 0 {
		return fmt.Errorf("names: give at least the name or address that agents dial")
	}
	return nil
}

func (c *Config) path(part string) string { return filepath.Join(c.DataDir, part) }
