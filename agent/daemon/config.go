package daemon

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"rackboot/agent"
	"rackboot/agent/local"
	"rackboot/protocol"
)

// Config is the agent's local file. What it does not name, the hub cannot make
// the agent use.
type Config struct {
	// DataDir is the agent's folder; only the agent may read it.
	DataDir string `yaml:"dataDir"`
	// CredentialsDir holds one file per BMC account: username and password.
	CredentialsDir string `yaml:"credentialsDir"`
	// Metrics is the address of the metrics page; empty is none.
	Metrics string `yaml:"metrics"`
	// Socket is the path of the agent's own API. Default agent.sock in DataDir.
	Socket string `yaml:"socket"`
	// SocketGroup is the group whose members may use it; empty is the agent's user and
	// root only.
	SocketGroup string `yaml:"socketGroup"`

	Segments []Segment `yaml:"segments"`
	// BootCertificates is the folder that rackctl boot-cert makes; needed where a
	// segment has https. Default boot-cert in DataDir.
	BootCertificates string `yaml:"bootCertificates"`
	Images           Images `yaml:"images"`
	Link             Link   `yaml:"link"`
}

// Segment says where the agent listens for the segment of that name.
type Segment struct {
	Name string `yaml:"name"`
	// Interface is bound for DHCP; it may be empty on loopback addresses only.
	Interface string `yaml:"interface"`
	DHCP      string `yaml:"dhcp"` // default 0.0.0.0:67
	HTTP      string `yaml:"http"` // the address that firmware fetches from
	// HTTPS is that of https boot URLs, and TFTP where PXE firmware loads from. Empty is
	// none.
	HTTPS string `yaml:"https"`
	TFTP  string `yaml:"tftp"`
}

// Images says how the agent reaches registries and how much it keeps.
type Images struct {
	// Mirrors maps a registry host to the host that is asked instead.
	Mirrors map[string]string `yaml:"mirrors"`
	// PlainHTTP are the registry hosts that may be asked without TLS.
	PlainHTTP []string `yaml:"plainHTTP"`
	// CAFile is PEM of more CAs for registries.
	CAFile string `yaml:"caFile"`
	// QuotaMiB bounds the boot files on disk, in MiB. Default 20480.
	QuotaMiB int64 `yaml:"quotaMiB"`
}

// LoadConfig reads the file. Errors name file, line and field.
func LoadConfig(path string) (Config, error) {
	const op = "read the agent's file"
	raw, err := os.ReadFile(path)
	if err != nil {
		return Config{}, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("give its path with --config; configs/agent.yaml is an example")
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
	if c.DataDir == "" || c.CredentialsDir == "" {
		return fmt.Errorf("dataDir and credentialsDir are needed")
	}
	if s := c.LocalSocket().Path; len(s) > local.MaxPath {
		return fmt.Errorf("socket: %s has %d bytes, and a socket's path at most %d; give a shorter one", s, len(s), local.MaxPath)
	}
	if c.BootCertificates == "" {
		c.BootCertificates = c.path("boot-cert")
	}
	if c.Images.QuotaMiB == 0 {
		c.Images.QuotaMiB = 20 << 10
	}
	if c.Images.QuotaMiB < 0 {
		return fmt.Errorf("images.quotaMiB: %d is not a size", c.Images.QuotaMiB)
	}
	if err := c.Link.check(); err != nil {
		return err
	}
	_, err := c.segments()
	return err
}

func (c *Config) segments() ([]agent.LocalSegment, error) {
	var out []agent.LocalSegment
	for i, s := range c.Segments {
		at := fmt.Sprintf("segments[%d]", i)
		if s.Name == "" {
			return nil, fmt.Errorf("%s.name is empty; it is the name of a Segment at the hub", at)
		}
		if s.DHCP == "" {
			s.DHCP = "0.0.0.0:67"
		}
		dhcp, err := netip.ParseAddrPort(s.DHCP)
		if err != nil {
			return nil, fmt.Errorf("%s.dhcp: %q is not address:port", at, s.DHCP)
		}
		http, err := netip.ParseAddrPort(s.HTTP)
		if err != nil {
			return nil, fmt.Errorf("%s.http: %q is not address:port", at, s.HTTP)
		}
		if s.Interface == "" && !dhcp.Addr().IsLoopback() {
			return nil, fmt.Errorf("%s.interface is empty; DHCP must be bound to one interface", at)
		}
		local := agent.LocalSegment{Name: s.Name, Interface: s.Interface, DHCP: dhcp, HTTP: http}
		for _, f := range []struct {
			key, text string
			at        *netip.AddrPort
		}{{"https", s.HTTPS, &local.HTTPS}, {"tftp", s.TFTP, &local.TFTP}} {
			if f.text == "" {
				continue
			}
			if *f.at, err = netip.ParseAddrPort(f.text); err != nil {
				return nil, fmt.Errorf("%s.%s: %q is not address:port", at, f.key, f.text)
			}
		}
		out = append(out, local)
	}
	return out, nil
}

// LocalSocket is where the agent's own API listens.
func (c *Config) LocalSocket() local.Socket {
	s := local.Socket{Path: c.Socket, Group: c.SocketGroup}
	if s.Path == "" {
		s.Path = c.path("agent.sock")
	}
	return s
}

func (c *Config) path(parts ...string) string {
	return filepath.Join(append([]string{c.DataDir}, parts...)...)
}
