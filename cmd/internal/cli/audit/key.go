package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

func keyCmd(pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Make the key that approves destructive actions", Args: cobra.NoArgs}
	cmd.AddCommand(&cobra.Command{
		Use: "make-destructive FILE", Short: "Make a destructive key: FILE and FILE.pub", Args: cobra.ExactArgs(1),
		Long: "Make a destructive key: FILE, readable by you only, and its public half FILE.pub. Nothing is\n" +
			"sent anywhere, and neither file is written over. Give FILE.pub to the hub (destructiveKey.public\n" +
			"in hub.yaml) and, where the hub is not to be trusted with it, to each agent (destructiveKey in\n" +
			"agent.yaml). Keep FILE where the hub is not: whoever has it and the hub can stop whole racks.",
		Example: "  rackctl key make-destructive /media/usb/destructive.pem",
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := makeKey(args[0])
			if err != nil {
				return err
			}
			return pr.Text(map[string]string{"file": args[0], "public": args[0] + ".pub", "keyId": hex.EncodeToString(wire.KeyID(public))},
				[]string{args[0]}, fmt.Sprintf("%s and %s.pub made, key %x", args[0], args[0], wire.KeyID(public)))
		},
	})
	return cmd
}

// makeKey writes both halves, each new. The private one comes first, so that a public
// half that is there has one.
func makeKey(path string) (ed25519.PublicKey, error) {
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
