package agentpackage

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rackboot/protocol/wire"
)

const inlinePEM = "-----BEGIN "

func isPEM(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), inlinePEM) }

// CheckKeys says what cannot be in upgrade.keys of a file of agent or hub: each is PEM, or the absolute path of a file,
// which is not looked at.
func CheckKeys(texts []string) error {
	for i, text := range texts {
		switch {
		case isPEM(text):
			if _, err := wire.ParsePublicKey([]byte(text)); err != nil {
				return fmt.Errorf("upgrade.keys[%d]: %w", i, err)
			}
		case !filepath.IsAbs(text):
			return fmt.Errorf("upgrade.keys[%d]: %q is neither the absolute path of a file nor PEM", i, text)
		}
	}
	return nil
}

// ReadKeys reads the keys of upgrade.keys. With an error come those that can be read.
func ReadKeys(texts []string) (keys []ed25519.PublicKey, err error) {
	var errs []error
	for i, text := range texts {
		raw := []byte(text)
		if !isPEM(text) {
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

// SignedBy is which of the keys signed a manifest that [Open] takes; nil if none did.
func SignedBy(signed []byte, keys []ed25519.PublicKey) ed25519.PublicKey {
	for _, key := range keys {
		if _, err := Open(signed, []ed25519.PublicKey{key}); err == nil {
			return key
		}
	}
	return nil
}
