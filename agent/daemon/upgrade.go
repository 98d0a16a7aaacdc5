package daemon

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"rackboot/agent/installed"
	"rackboot/protocol/wire"
)

// Upgrade says by whose signature the agent runs another release of itself, when the hub orders it.
type Upgrade struct {
	// Keys are public keys of publishers, each a file or PEM; none lets nobody upgrade the agent.
	Keys []string `yaml:"keys"`
}

const inlinePEM = "-----BEGIN "

// check refuses PEM that is none. A file that cannot be read is no reason not to start: the agent serves its rack, and only
// cannot be upgraded.
func (u Upgrade) check() error {
	for i, text := range u.Keys {
		switch {
		case strings.HasPrefix(strings.TrimSpace(text), inlinePEM):
			if _, err := wire.ParsePublicKey([]byte(text)); err != nil {
				return fmt.Errorf("upgrade.keys[%d]: %w", i, err)
			}
		case !filepath.IsAbs(text):
			return fmt.Errorf("upgrade.keys[%d]: %q is neither the absolute path of a file nor PEM", i, text)
		}
	}
	return nil
}

// read reads the keys, and says which cannot be had.
func (u Upgrade) read() (keys []ed25519.PublicKey, err error) {
	var errs []error
	for i, text := range u.Keys {
		raw := []byte(text)
		if !strings.HasPrefix(strings.TrimSpace(text), inlinePEM) {
			var err error
			if raw, err = os.ReadFile(text); err != nil {
				errs = append(errs, fmt.Errorf("upgrade.keys[%d]: %w", i, err))
				continue
			}
		}
		key, err := wire.ParsePublicKey(raw)
		if err != nil {
			errs = append(errs, fmt.Errorf("upgrade.keys[%d]: %w", i, err))
			continue
		}
		keys = append(keys, key)
	}
	return keys, errors.Join(errs...)
}

// keys are those that can be read; what cannot is logged.
func (u Upgrade) keys(log *slog.Logger) []ed25519.PublicKey {
	keys, err := u.read()
	if err != nil {
		log.Error("a key of publishers cannot be read; nothing that it signed is run", "err", err)
	}
	return keys
}

// Standing says whether an agent with that dataDir can upgrade itself, and why not, as far as can be seen while it does not run.
func (u Upgrade) Standing(dataDir string) (can bool, says string) {
	keys, err := u.read()
	switch {
	case err != nil:
		return false, err.Error()
	case len(keys) == 0:
		return false, "upgrade.keys of the agent's file names no key"
	}
	dir := installed.Dir(dataDir)
	r, err := (installed.Files{Dir: dir}).Read()
	if err != nil {
		return false, err.Error()
	}
	if r.Packaged == "" {
		return false, "rackboot-launcher has never started an agent with the folder " + dir
	}
	switch last := r.Last; {
	case r.Trial != nil:
		return true, fmt.Sprintf("%s is on trial by order %s", r.Trial.Version, r.Trial.Order)
	case last != nil:
		return true, strings.TrimRight(fmt.Sprintf("order %s: %s %s %s", last.Order, last.Stage, last.Code, last.Message), " ")
	}
	return true, "none was ordered yet"
}
