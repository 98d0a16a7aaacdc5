package keypair

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// Make makes an Ed25519 key: path, for its owner only, and the public half path.pub. The private one comes first, so that a
// public half that is there has one. Errors: conflict if one of them is there, invalid.
func Make(path string) (ed25519.PublicKey, error) {
	const op = "make key"
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	private, pub, err := wire.EncodeKey(key)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if _, err := os.Lstat(path + ".pub"); !errors.Is(err, fs.ErrNotExist) {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "%s.pub exists", path).WithHint("choose another name; a key is never written over")
	}
	for _, f := range []struct {
		path string
		text []byte
		mode os.FileMode
	}{{path, private, 0o600}, {path + ".pub", pub, 0o644}} {
		if err := writeNew(f.path, f.text, f.mode); errors.Is(err, fs.ErrExist) {
			return nil, protocol.Errorf(protocol.CodeConflict, op, "%s exists", f.path).WithHint("choose another name; a key is never written over")
		} else if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
		}
	}
	return public, nil
}

func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
