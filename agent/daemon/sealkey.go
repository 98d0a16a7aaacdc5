package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/protocol/sealbox"
)

func sealKeyPath(dataDir string) string { return filepath.Join(dataDir, "identity", "seal.key") }

// sealKey is the key for which the hub seals secrets. It lies beside the identity and
// is made where it is missing: with the identity, or for an agent that joined before
// there were secrets. The hub learns it from the join or the next Hello.
func sealKey(dataDir string) (*sealbox.Key, error) {
	const op = "read the agent's key for secrets"
	path := sealKeyPath(dataDir)
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k, err := sealbox.NewKey()
		if err != nil {
			return nil, err
		}
		if err := replaceFile(path, k.Bytes(), "agent.sealkey", nil); err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "it could not be kept: %w", err).WithHint("correct the disk of the agent's data folder")
		}
		return k, nil
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	k, err := sealbox.ParseKey(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is damaged", path).
			WithHint("remove it and start the agent again: the hub seals anew for the next key")
	}
	return k, nil
}
