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
	var of exported
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Write the audit log to a file, signed by the hub; - is standard output", Args: cobra.ExactArgs(1),
		Long: `Write the audit log to a file, signed by the hub; - is standard output. The file is
verified on its way if the context has the hub's key (config set-context --hub-key), and appears
under its name when it is complete. One that is there is not replaced.

Of several hubs that share a store it has the logs of all, also of one that is gone, up to its
last second. --hub exports the log of one, for --from and for a rackctl that is older than 0.2.

--from begins with the segment that has the entry, for what an earlier export has not.`,
		Example: "  rackctl audit export audit-2026-11.jsonl\n  rackctl audit export audit-2026-12.jsonl --from 48211\n  rackctl audit export hub-2.jsonl --hub hub-2",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if args[0] == "-" {
				return exportAudit(cmd.Context(), hubs, src, pr, c, of, pr.Out, "standard output")
			}
			return exportFile(cmd.Context(), hubs, src, pr, c, of, args[0])
		},
	}
	cmd.Flags().Uint64Var(&of.from, "from", 0, "begin with the segment that has this entry; of several hubs with --hub")
	cmd.Flags().StringVar(&of.hub, "hub", "", "only the log of this hub, of those that share a store")
	return cmd
}

// exported is what is asked of the hub: the logs of all hubs, or one, from a segment on.
type exported struct {
	hub  string
	from uint64
}

func (e exported) export(ctx context.Context, c *api.Client, w io.Writer) error {
	switch {
	case e.hub != "":
		return c.Audit.ExportOf(ctx, e.hub, e.from, w)
	case e.from > 0:
		return c.Audit.ExportFrom(ctx, e.from, w)
	}
	return c.Audit.ExportAll(ctx, w)
}

func exportFile(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, c *api.Client, of exported, path string) error {
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
	wrong := exportAudit(ctx, hubs, src, pr, c, of, f, path)
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
func exportAudit(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, c *api.Client, of exported, w io.Writer, name string) error {
	keys, noKey := auditKeys(hubs, src, nil)
	return exportInto(ctx, c, of, func(r io.Reader) error {
		r = io.TeeReader(r, w)
		if noKey != nil {
			return unverified(pr, r)
		}
		e, err := readExport(r, keys, false)
		if err != nil {
			_, _ = io.Copy(io.Discard, r) // all of it is written
			return misfit(name, err)
		}
		if of.hub != "" && e.Logs[0].Hub != of.hub {
			return older(of.hub)
		}
		for _, log := range e.Logs {
			of := ""
			if e.Site {
				of = "hub " + log.Hub + ": "
			}
			pr.Progress("%sentries %d to %d are written and verified", of, log.First, log.Last)
		}
		tellUnchecked(pr, e)
		return nil
	})
}

// older is an answer of a hub that knows of no other hubs.
func older(hub string) error {
	return protocol.Errorf(protocol.CodeUnsupported, "audit", "the hub has answered with its own log, not with that of %q", hub).WithHint("upgrade the hub")
}

// unverified reads an export and looks only whether it was sent to its end.
func unverified(pr *printer.Printer, r io.Reader) error {
	tail, end := &tailWriter{}, "\n{\"end\":\""
	r, site := auditlog.IsSite(r)
	if site {
		end = "\n{\"site\":\""
	}
	if _, err := io.Copy(tail, r); err != nil {
		return err
	}
	if !bytes.HasSuffix(tail.last, []byte("\"}\n")) || !bytes.Contains(tail.last, []byte(end)) {
		return protocol.Errorf(protocol.CodeUnavailable, "audit export", "the hub's answer ended early").WithHint("see the hub's log, and try again")
	}
	pr.Progress("written and not verified: the hub's public key is not known; see rackctl audit verify --help")
	return nil
}

// tailWriter keeps the last bytes that were written, enough for an end line.
type tailWriter struct{ last []byte }

func (t *tailWriter) Write(b []byte) (int, error) {
	const keep = 16 << 10
	t.last = append(t.last, b...)
	if n := len(t.last); n > keep {
		t.last = append([]byte(nil), t.last[n-keep:]...)
	}
	return len(b), nil
}
