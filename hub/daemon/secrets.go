package daemon

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/secret"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
)

// Secrets says where the key-encryption key of Secrets comes from. Without one, none can
// be written or read; all else works.
type Secrets struct {
	SecretKey `yaml:",inline"`
	// Previous are keys that decrypt only: name the old one here until
	// rackctl secret rotate-key, or a start of the hub, has put everything under the new.
	Previous []SecretKey `yaml:"previous"`
}

// SecretKey is one key: 32 bytes in hex or base64, from one of three places.
type SecretKey struct {
	// KeyFile may be read by the hub's user only (mode 0600).
	KeyFile string `yaml:"keyFile"`
	// KeyEnv is the name of an environment variable of the hub.
	KeyEnv string `yaml:"keyEnv"`
	// KeyCommand is a program and its arguments, which prints the key within 10 s. It
	// is run without a shell.
	KeyCommand []string `yaml:"keyCommand"`
}

func (k SecretKey) source() secret.Source {
	return secret.Source{File: k.KeyFile, Env: k.KeyEnv, Command: k.KeyCommand}
}

func (k SecretKey) none() bool { return k.KeyFile == "" && k.KeyEnv == "" && len(k.KeyCommand) == 0 }

func (s Secrets) check() error {
	if s.none() {
		if len(s.Previous) > 0 {
			return fmt.Errorf("secrets.previous: there is no present key; give keyFile, keyEnv or keyCommand")
		}
		return nil
	}
	if err := s.source().Check(); err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	for i, p := range s.Previous {
		if err := p.source().Check(); err != nil {
			return fmt.Errorf("secrets.previous[%d]: %w", i, err)
		}
	}
	return nil
}

// checkIgnition says what is wrong with user data.
func checkIgnition(data []byte) protocol.FieldErrors {
	_, errs := ignition.Check(data)
	return errs
}

// vault makes what encrypts Secrets. It reads no key yet.
func (s Secrets) vault(log *slog.Logger, reg prometheus.Registerer) *secret.Vault {
	cfg := secret.Config{Getenv: os.Getenv, Logger: log, Registerer: reg}
	if !s.none() {
		current := s.source()
		cfg.Current = &current
	}
	for _, p := range s.Previous {
		cfg.Previous = append(cfg.Previous, p.source())
	}
	return secret.New(cfg)
}
