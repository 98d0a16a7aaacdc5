package backup

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/depots"
	"rackboot/protocol/backupfile"
)

// verified is what is known of a backup.
type verified struct {
	Name string `json:"name"`
	// Verified says how: all, or, without a key, whole.
	Verified string `json:"verified"`
	backupfile.Header
	Manifest *backupfile.Manifest `json:"manifest,omitempty"`
}

func verifyCmd(stdin io.Reader, pr *printer.Printer) *cobra.Command {
	var buckets depots.Buckets
	var keys depots.Keys
	cmd := &cobra.Command{
		Use: "verify BACKUP", Short: "Say whether a backup is whole, and what is in it", Args: cobra.ExactArgs(1),
		Long: `Say whether a backup is whole, and what is in it: a file, - for standard input, or
s3://bucket/prefix/NAME; of a folder, and of a URL that ends with a slash, the newest. Nothing is unpacked.
An encrypted one is opened with --identity or --passphrase-file; without them it is only said whether the
file is as it was written.`,
		Example: "  rackctl backup verify /srv/backups --identity backup.key",
		RunE: func(cmd *cobra.Command, args []string) error {
			open, err := keys.Read()
			if err != nil {
				return err
			}
			r, name, err := buckets.Open(cmd.Context(), args[0], stdin)
			if err != nil {
				return err
			}
			defer r.Close()
			h, m, err := verify(r, open)
			if err != nil {
				return err
			}
			return show(pr, verified{Name: name, Verified: how(m), Header: h, Manifest: m})
		},
	}
	keys.Flags(cmd.Flags())
	buckets.Flags(cmd.Flags())
	return cmd
}

// verify reads a backup: all of it if it can be opened, else that it is whole; then there is no manifest.
func verify(r io.Reader, keys []backupfile.Identity) (backupfile.Header, *backupfile.Manifest, error) {
	in := bufio.NewReader(r)
	if len(keys) == 0 && !plain(in) {
		h, err := backupfile.Whole(in)
		return h, nil, err
	}
	m, err := backupfile.Read(in, keys, nil)
	if err != nil {
		return m.Header, nil, err
	}
	return m.Header, &m, nil
}

// plain reports whether a backup is not encrypted, by its header, which nobody has verified yet.
func plain(in *bufio.Reader) bool {
	head, _ := in.Peek(2048) // what is shorter is refused by who reads it
	lines := bytes.SplitN(head, []byte("\n"), 3)
	return len(lines) > 1 && bytes.Contains(lines[1], []byte(`"sealed":"`+string(backupfile.Plain)+`"`))
}

func how(m *backupfile.Manifest) string {
	if m == nil {
		return "whole"
	}
	return "all"
}

func show(pr *printer.Printer, v verified) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	line("Backup", "%s", v.Name)
	line("Made", "%s", printer.Stamp(&v.Made))
	line("Release", "%s", v.Release)
	if v.Manifest == nil {
		line("Verified", "whole; it is encrypted, and was not opened")
	} else {
		line("Verified", "all, %s", printer.Plural(len(v.Manifest.Members), "member"))
		line("Sealed", "%s", v.Sealed)
		line("Epoch", "%d", v.Manifest.Epoch)
		for _, s := range v.Manifest.Streams {
			line("Stream", "%s: %d messages up to %d", s.Name, s.Messages, s.Last)
		}
		line("Audit log", "up to entry %d", v.Manifest.Audit.Seq)
		for _, w := range v.Manifest.Without {
			line("Without", "%s", w)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return pr.Text(v, []string{v.Name}, strings.TrimSuffix(text.String(), "\n"))
}
