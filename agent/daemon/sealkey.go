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
		if err := writeKey(path, k.Bytes()); err != nil {
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

// writeKey writes a file that is there whole or not at all, on disk when it returns.
func writeKey(path string, raw []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // opened to sync only
	return d.Sync()
}
