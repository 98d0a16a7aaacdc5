package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"rackboot/hub/backup/setting"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
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
	// Store says where the hub keeps what it knows; by default in its folder.
	Store Store `yaml:"store"`
	// Names are the DNS names and IP addresses under which the hub is reached; the
	// first is the one that agents are told to dial.
	Names    []string `yaml:"names"`
	Scraping `yaml:",inline"`
	Images   Images `yaml:"images"`
	// Secrets says with which key Secrets are encrypted.
	Secrets Secrets `yaml:"secrets"`
	// Endpoints are where agents dial, where it is more than the first of names.
	Endpoints Endpoints `yaml:"endpoints"`
	// CertificateLife is that of agents' certificates, 24 h to 400 days. Default 90 days.
	// Agents renew after two thirds of it.
	CertificateLife time.Duration `yaml:"certificateLife"`
	// DestructiveKey signs approvals; without it nothing needs the signature of one
	// where agents do not know another.
	DestructiveKey DestructiveKey `yaml:"destructiveKey"`
	Approvals      Approvals      `yaml:"approvals"`
	Followed       `yaml:",inline"`
	Limits         Limits `yaml:"limits"`
	Taking         `yaml:",inline"`
	// Registry is a registry for images within the hub; off by default.
	Registry Registry `yaml:"registry"`
	Keeping  `yaml:",inline"`
	// Catalogue says how the files of boot images are fetched.
	Catalogue Catalogue `yaml:"catalogue"`
	// Features are switched on one by one.
	Features Features `yaml:"features"`
}

// Taking is what people may give the hub to keep.
type Taking struct {
	// ISOs says how the files that people upload are kept.
	ISOs ISOs `yaml:"isos"`
	// Upgrade says whose packages of agents the hub takes.
	Upgrade Upgrade `yaml:"upgrade"`
}

// Followed is what a hub follows without a restart.
type Followed struct {
	// Clients may use the API besides the admin.
	Clients []Client `yaml:"clients"`
	// ClientCA is a file with the authorities, in PEM, that sign certificates of clients
	// besides the hub's own. Whatever they sign for a common name of Clients is it.
	ClientCA string `yaml:"clientCA"`
	// OIDC lets persons log in with an OpenID provider; nil lets none.
	OIDC *OIDC `yaml:"oidc"`
	// Log says how the log is written.
	Log Logging `yaml:"log"`
}

// Scraping is what Prometheus is shown, and where.
type Scraping struct {
	// Metrics is the address of the metrics page; empty is none.
	Metrics string `yaml:"metrics"`
	// MetricsTotalsOnly leaves out the series of single servers and claims, of which a server has about ten.
	MetricsTotalsOnly bool `yaml:"metricsTotalsOnly"`
}

// Keeping is how long the hub keeps what it has, and where else it goes.
type Keeping struct {
	// Events says how long what happened is kept.
	Events Events `yaml:"events"`
	// Backup says how the hub is backed up.
	Backup setting.Backup `yaml:"backup"`
	// Webhooks are told of events, 16 at most.
	Webhooks Webhooks `yaml:"webhooks"`
}

// Features are what a hub does only where its file says so.
type Features struct {
	// ManagedBootImages lets groups follow catalogues of boot images, as ManagedBootImages
	// says. Off, every group keeps the image that it has.
	ManagedBootImages bool `yaml:"managedBootImages"`
}

// Limits are the rates at which the API is used; 0 is the default.
type Limits struct {
	// CallerPerSecond are requests of one client, by default 500; four times as many may
	// come at once.
	CallerPerSecond float64 `yaml:"callerPerSecond"`
	// SourcePerSecond are requests of one address whose sender is not known: wrong
	// tokens; by default 10, and twenty times as many at once.
	SourcePerSecond float64 `yaml:"sourcePerSecond"`
	// JoinPerSecond are agents that join from one address; by default 50, and twenty times as
	// many at once, so that a thousand behind one address do.
	JoinPerSecond float64 `yaml:"joinPerSecond"`
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
	if err := c.Store.check(); err != nil {
		return err
	}
	if min(c.Limits.CallerPerSecond, c.Limits.SourcePerSecond, c.Limits.JoinPerSecond) < 0 {
		return fmt.Errorf("limits: a rate is not less than 0; leave it out for the default")
	}
	if err := c.Log.check(); err != nil {
		return err
	}
	if err := c.checkClients(); err != nil {
		return err
	}
	if err := c.OIDC.check(); err != nil {
		return err
	}
	if err := c.checkDestructive(); err != nil {
		return err
	}
	if err := c.Secrets.check(); err != nil {
		return err
	}
	if err := c.Images.check(); err != nil {
		return err
	}
	if err := c.ISOs.check(); err != nil {
		return err
	}
	if err := c.Registry.check(); err != nil {
		return err
	}
	if err := agentpackage.CheckKeys(c.Upgrade.Keys); err != nil {
		return err
	}
	if err := c.Webhooks.check(); err != nil {
		return err
	}
	if err := c.Events.check(); err != nil {
		return err
	}
	if err := c.Backup.Check(); err != nil {
		return err
	}
	if within(c.Backup.Folder, c.DataDir) {
		return fmt.Errorf("backup.folder: %s lies in dataDir, and would be lost with it", c.Backup.Folder)
	}
	if err := c.checkEndpoints(); err != nil {
		return err
	}
	if len(c.Names) == 0 {
		return fmt.Errorf("names: give at least the name or address that agents dial")
	}
	return nil
}

// within reports whether a folder is another one, or below it.
func within(dir, of string) bool {
	rel, err := filepath.Rel(of, dir)
	return dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func (c *Config) path(part string) string { return filepath.Join(c.DataDir, part) }
