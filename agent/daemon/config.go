package daemon

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"rackboot/agent/boot"
	"rackboot/agent/heartbeat"
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
	// MetricsAdvertise is where Prometheus reaches that page, which the hub tells it. The default is Metrics, where that is an
	// address that other hosts reach; else the hub is told none.
	MetricsAdvertise protocol.MetricsAddress `yaml:"metricsAdvertise"`
	// Socket is the path of the agent's own API. Default agent.sock in DataDir.
	Socket string `yaml:"socket"`
	// SocketGroup is the group whose members may use it; empty is the agent's user and
	// root only.
	SocketGroup string `yaml:"socketGroup"`

	Segments []Segment `yaml:"segments"`
	// Loaders are folders with boot loaders by architecture: amd64, arm64 and so on. The
	// first that has a file of a kind gives it.
	Loaders map[string][]string `yaml:"loaders"`
	// BootCertificates is the folder that rackctl boot-cert makes; needed where a
	// segment has https. Default boot-cert in DataDir.
	BootCertificates string `yaml:"bootCertificates"`
	// TPMAuthorities is a file with PEM of the authorities that vouch for the TPMs of servers;
	// empty has nobody vouch for them.
	TPMAuthorities string `yaml:"tpmAuthorities"`
	// DestructiveKey is PEM of the public key that approves destructive actions. It wins
	// over the one that joining gave; without either, the hub's everyday key suffices.
	DestructiveKey string   `yaml:"destructiveKey"`
	BulkStop       BulkStop `yaml:"bulkStop"`
	Images         Images   `yaml:"images"`
	// Files is a folder whose files every boot environment may serve, as loaders and
	// programs of the site; empty is none.
	Files        string       `yaml:"files"`
	Repositories Repositories `yaml:"repositories"`
	ISOs         ISOs         `yaml:"isos"`
	OTLP         OTLP         `yaml:"otlp"`
	Upgrade      Upgrade      `yaml:"upgrade"`
	Link         Link         `yaml:"link"`
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
	// Chain is the way to boot that goes before the others where it is possible: uki, grub
	// or ipxe. Empty is that order.
	Chain protocol.ChainKind `yaml:"chain"`
	// TrustedMedia lets config images of virtual media carry user data by plain HTTP.
	TrustedMedia bool `yaml:"trustedMedia"`
	// Heartbeat says to the other agent of the rack that this one lives, where one stands by; nil does not.
	Heartbeat *Heartbeat `yaml:"heartbeat"`
	// DHCP6 is where DHCPv6 is served, [::]:547; empty is nowhere. The others are the
	// addresses of IPv6 for what the keys above are for IPv4.
	DHCP6  string `yaml:"dhcp6"`
	HTTP6  string `yaml:"http6"`
	HTTPS6 string `yaml:"https6"`
	TFTP6  string `yaml:"tftp6"`
}

// Heartbeat is where heartbeats of a segment go. Both are IPv4 addresses on the segment with a port.
type Heartbeat struct {
	Listen string `yaml:"listen"` // this host's
	Peer   string `yaml:"peer"`   // the other host's
}

// Images says how the agent reaches registries and how much it keeps.
type Images struct {
	// Mirrors maps a registry host to the host that is asked instead.
	Mirrors map[string]string `yaml:"mirrors"`
	// PlainHTTP are the registry hosts that may be asked without TLS.
	PlainHTTP []string `yaml:"plainHTTP"`
	// CAFile is PEM of more CAs for registries.
	CAFile string `yaml:"caFile"`
	// Allow are the registries whose images may be used, whatever the hub says: hosts, or
	// hosts with the beginning of a path. Empty is all.
	Allow []string `yaml:"allow"`
	// Accounts are for registries and mirrors that want a login.
	Accounts []RegistryAccount `yaml:"accounts"`
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
	if _, err := advertised(c.Metrics, c.MetricsAdvertise); err != nil {
		return err
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
	if err := c.Images.check(); err != nil {
		return err
	}
	if err := c.Repositories.check(); err != nil {
		return err
	}
	if err := c.ISOs.check(); err != nil {
		return err
	}
	if err := c.BulkStop.check(); err != nil {
		return err
	}
	if err := c.OTLP.check(); err != nil {
		return err
	}
	if err := c.Upgrade.check(); err != nil {
		return err
	}
	if err := c.Link.check(); err != nil {
		return err
	}
	if err := checkLoaders(c.Loaders); err != nil {
		return err
	}
	if _, err := c.beats(); err != nil {
		return err
	}
	_, err := c.segments()
	return err
}

// beats are the lines of all segments that have one. Errors begin with the key.
func (c *Config) beats() (out []heartbeat.Line, err error) {
	for i, s := range c.Segments {
		if s.Heartbeat == nil {
			continue
		}
		l := heartbeat.Line{Segment: s.Name, Interface: s.Interface}
		for key, at := range map[string]struct {
			text string
			into *netip.AddrPort
		}{"listen": {s.Heartbeat.Listen, &l.Listen}, "peer": {s.Heartbeat.Peer, &l.Peer}} {
			if *at.into, err = netip.ParseAddrPort(at.text); err != nil || !at.into.Addr().Is4() || at.into.Addr().IsUnspecified() || at.into.Port() == 0 {
				return nil, fmt.Errorf("segments[%d].heartbeat.%s: %q is not an IPv4 address with a port, such as 10.7.0.2:7420", i, key, at.text)
			}
		}
		out = append(out, l)
	}
	return out, nil
}

func (c *Config) segments() ([]boot.LocalSegment, error) {
	var out []boot.LocalSegment
	for i, s := range c.Segments {
		local, err := s.local()
		if err != nil {
			return nil, fmt.Errorf("segments[%d].%w", i, err)
		}
		out = append(out, local)
	}
	return out, nil
}

// local checks the segment. Errors begin with the key.
func (s Segment) local() (boot.LocalSegment, error) {
	local := boot.LocalSegment{Name: s.Name, Interface: s.Interface, Chain: s.Chain, TrustedMedia: s.TrustedMedia}
	if s.Name == "" {
		return local, fmt.Errorf("name is empty; it is the name of a Segment at the hub")
	}
	if err := checkChain(s.Chain); err != nil {
		return local, err
	}
	if s.DHCP == "" {
		s.DHCP = "0.0.0.0:67"
	}
	for _, f := range []struct {
		key, text  string
		at         *netip.AddrPort
		needed, v6 bool
	}{
		{"dhcp", s.DHCP, &local.DHCP, true, false},
		{"http", s.HTTP, &local.HTTP, true, false},
		{"https", s.HTTPS, &local.HTTPS, false, false},
		{"tftp", s.TFTP, &local.TFTP, false, false},
		{"dhcp6", s.DHCP6, &local.DHCP6, false, true},
		{"http6", s.HTTP6, &local.HTTP6, false, true},
		{"https6", s.HTTPS6, &local.HTTPS6, false, true},
		{"tftp6", s.TFTP6, &local.TFTP6, false, true},
	} {
		if f.text == "" && !f.needed {
			continue
		}
		at, err := netip.ParseAddrPort(f.text)
		if err != nil {
			return local, fmt.Errorf("%s: %q is not address:port", f.key, f.text)
		}
		if f.v6 && (!at.Addr().Is6() || at.Addr().Is4In6() || at.Addr().IsLinkLocalUnicast()) {
			return local, fmt.Errorf("%s: %q is not an IPv6 address that can be in a URL, with a port, such as [::]:%d", f.key, f.text, at.Port())
		}
		*f.at = at
	}
	for _, at := range []netip.AddrPort{local.DHCP, local.DHCP6} {
		if s.Interface == "" && at.IsValid() && !at.Addr().IsLoopback() {
			return local, fmt.Errorf("interface is empty; DHCP at %s must be bound to one interface", at)
		}
	}
	return local, nil
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
