package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// Repositories are the package repositories that boot environments may come from, through
// the agent. What is not named here, nobody reads.
type Repositories struct {
	// QuotaMiB bounds what is kept of them on disk, in MiB. Default 20480.
	QuotaMiB int64        `yaml:"quotaMiB"`
	Bases    []Repository `yaml:"bases"`
}

// Repository is a tree of files that may be asked: a URL, and all that is below it.
type Repository struct {
	URL string `yaml:"url"`
	// Account is the name of a file in CredentialsDir: username and password, or token.
	Account string `yaml:"account"`
	// CAFile is PEM of the CAs that the host is trusted by, in place of the system's.
	CAFile string `yaml:"caFile"`
	// Hosts are other hosts that it may send the agent to.
	Hosts []string `yaml:"hosts"`
}

func (r Repositories) check() error {
	if r.QuotaMiB < 0 {
		return fmt.Errorf("repositories.quotaMiB: %d is not a size", r.QuotaMiB)
	}
	for i, b := range r.Bases {
		if b.Account != "" && filepath.Base(b.Account) != b.Account {
			return fmt.Errorf("repositories.bases[%d].account: %q is not the name of a file in credentialsDir", i, b.Account)
		}
	}
	return nil
}

// open gives the proxy; nil where no repository is named.
func (r Repositories) open(c *Config, log *slog.Logger, reg prometheus.Registerer) (*mirror.Mirror, error) {
	if len(r.Bases) == 0 {
		return nil, nil
	}
	cfg := mirror.Config{Dir: c.path("repositories"), Quota: r.QuotaMiB << 20, MinFree: blobMinFree, Logger: log, Registerer: reg}
	for i, b := range r.Bases {
		base := mirror.Base{URL: b.URL, Hosts: b.Hosts}
		if b.CAFile != "" {
			ca, err := os.ReadFile(b.CAFile)
			if err != nil {
				return nil, protocol.Errorf(protocol.CodeInvalid, "read repositories", "repositories.bases[%d].caFile: %w", i, err)
			}
			base.CA = ca
		}
		if b.Account != "" {
			a, err := readRegistryAccount(filepath.Join(c.CredentialsDir, b.Account))
			if err != nil {
				return nil, err
			}
			base.Username, base.Password, base.Bearer = a.Username, a.Password, a.Token
		}
		cfg.Bases = append(cfg.Bases, base)
	}
	return mirror.New(cfg)
}
