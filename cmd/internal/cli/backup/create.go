package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/depots"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/depot"
)

func createCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var buckets depots.Buckets
	var keys depots.Keys
	var to string
	cmd := &cobra.Command{
		Use: "create FILE | --to PLACE", Short: "Make a backup of the hub, and read it back", Args: cobra.MaximumNArgs(1),
		Long: `Make a backup of the hub, and read it back: in FILE, - is standard output; or under a name with
its time in PLACE, a folder or s3://bucket/prefix. It has its name once it is written and was read back
from there. The hub goes on meanwhile, and what was acknowledged before is in it.

It has the hub's private keys, and is encrypted as backup in the hub's file says: rackctl cannot change
that. With a key (--identity, --passphrase-file) all of it is verified; without one, that it is what the hub
sent.`,
		Example: "  rackctl backup create --to /srv/backups\n  rackctl backup create --to s3://copies/hub --s3-endpoint https://s3.example\n  rackctl backup create - | ssh vault 'cat >hub.backup'",
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "backup create"
			if len(args) == 1 == (to != "") {
				return protocol.Errorf(protocol.CodeInvalid, op, "it is not said where to").WithHint("give a file, - for standard output, or --to a folder or s3://bucket/prefix")
			}
			open, err := keys.Read()
			if err != nil {
				return err
			}
			place, name := depot.Place(nil), ""
			switch {
			case to != "":
				name = depot.Name(time.Now())
				if place, err = buckets.Place(to); err != nil {
					return err
				}
			case args[0] != "-":
				place, name = depot.Folder{Dir: filepath.Dir(args[0])}, filepath.Base(args[0])
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			bar := pr.NewBar("backup", 0, 0)
			defer bar.End()
			sent := &counted{sum: sha256.New(), moved: bar.Set}
			write := func(w io.Writer) error { return c.Backups.Create(cmd.Context(), io.MultiWriter(w, sent)) }
			if place == nil {
				return createHere(pr, write)
			}
			if err := place.Put(cmd.Context(), name, write, func(r io.Reader) error { return readBack(r, sent, open) }); err != nil {
				return err
			}
			bar.End()
			pr.Progress("read back: %d bytes, sha256:%s", sent.n, sent.hex())
			return pr.Text(depot.Kept{Name: name, Size: sent.n}, []string{name}, name)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "a folder, or s3://bucket/prefix")
	keys.Flags(cmd.Flags())
	buckets.Flags(cmd.Flags())
	return cmd
}

// counted counts what is written.
type counted struct {
	sum   hash.Hash
	n     int64
	moved func(int64) // nil is told nothing
}

// Write implements io.Writer.
func (c *counted) Write(b []byte) (int, error) {
	if c.n += int64(len(b)); c.moved != nil {
		c.moved(c.n)
	}
	return c.sum.Write(b)
}

func (c *counted) hex() string { return hex.EncodeToString(c.sum.Sum(nil)) }

// readBack verifies a backup, and that it is what was sent.
func readBack(r io.Reader, sent *counted, keys []backupfile.Identity) error {
	back := &counted{sum: sha256.New()}
	if _, _, err := verify(io.TeeReader(r, back), keys); err != nil {
		return err
	}
	if back.n != sent.n || back.hex() != sent.hex() {
		return protocol.Errorf(protocol.CodeUnavailable, "backup create", "%d bytes were sent, and %d others were read back", sent.n, back.n).
			WithHint("the disk or the store loses what it is given: look at it, and do not trust what it has")
	}
	return nil
}

// createHere writes a backup to standard output, and verifies it on its way.
func createHere(pr *printer.Printer, write func(io.Writer) error) error {
	r, w := io.Pipe()
	found := make(chan error, 1)
	go func() {
		_, err := backupfile.Whole(r)
		_ = r.CloseWithError(err) // never fails; nil has who writes fail, and nothing comes after the end
		found <- err
	}()
	err := write(io.MultiWriter(pr.Out, w))
	_ = w.Close() // never fails
	if wrong := <-found; err == nil {
		err = wrong
	}
	if err == nil {
		pr.Progress("whole; it cannot be read back from here: rackctl backup verify")
	}
	return err
}
