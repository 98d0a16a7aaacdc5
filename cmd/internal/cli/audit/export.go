package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
)

func auditExportCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var from uint64
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Write the audit log to a file, signed by the hub; - is standard output", Args: cobra.ExactArgs(1),
		Long: `Write the audit log to a file, signed by the hub; - is standard output. The file is
verified on its way if the context has the hub's key (config set-context --hub-key), and appears
under its name when it is complete. One that is there is not replaced.

--from begins with the segment that has the entry, for what an earlier export has not.`,
		Example: "  rackctl audit export audit-2026-11.jsonl\n  rackctl audit export audit-2026-12.jsonl --from 48211",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if args[0] == "-" {
				return exportAudit(cmd.Context(), hubs, src, pr, c, from, pr.Out, "standard output")
			}
			return exportFile(cmd.Context(), hubs, src, pr, c, from, args[0])
		},
	}
	cmd.Flags().Uint64Var(&from, "from", 0, "begin with the segment that has this entry")
	return cmd
}

func exportFile(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, c *api.Client, from uint64, path string) error {
	const op = "audit export"
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeConflict, op, "%s is there already", path).WithHint("give another name; an export may be the only copy of what is in it")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".audit-*") // mode 0600
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	wrong := exportAudit(ctx, hubs, src, pr, c, from, f, path)
	if _, misfits := errors.AsType[*auditlog.Finding](wrong); wrong != nil && !misfits {
		return wrong
	}
	// What does not fit is kept all the same: it may be all that there is.
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	// Link, not Rename: it does not replace what came there meanwhile.
	if err := os.Link(f.Name(), path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	return wrong
}

// exportAudit writes the log to w and verifies it on the way, if it can.
func exportAudit(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, c *api.Client, from uint64, w io.Writer, name string) error {
	keys, noKey := auditKeys(hubs, src, nil)
	return exportInto(ctx, c, from, func(r io.Reader) error {
		r = io.TeeReader(r, w)
		if noKey != nil {
			return unverified(pr, r)
		}
		rep, err := auditlog.Verify(r, keys, nil)
		if err != nil {
			_, _ = io.Copy(io.Discard, r) // all of it is written
			return misfit(name, err)
		}
		pr.Progress("entries %d to %d are written and verified", rep.First, rep.Last)
		return nil
	})
}

// unverified reads an export and looks only whether it was sent to its end.
func unverified(pr *printer.Printer, r io.Reader) error {
	tail := &tailWriter{}
	if _, err := io.Copy(tail, r); err != nil {
		return err
	}
	if !bytes.HasSuffix(tail.last, []byte("\"}\n")) || !bytes.Contains(tail.last, []byte("\n{\"end\":\"")) {
		return protocol.Errorf(protocol.CodeUnavailable, "audit export", "the hub's answer ended early").WithHint("see the hub's log, and try again")
	}
	pr.Progress("written and not verified: the hub's public key is not known; see rackctl audit verify --help")
	return nil
}

// tailWriter keeps the last bytes that were written, enough for an end line.
type tailWriter struct{ last []byte }

func (t *tailWriter) Write(b []byte) (int, error) {
	const keep = 4 << 10
	t.last = append(t.last, b...)
	if n := len(t.last); n > keep {
		t.last = append([]byte(nil), t.last[n-keep:]...)
	}
	return len(b), nil
}
