package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/publickey"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
)

// verifying is what auditVerifyCmd is told.
type verifying struct {
	keys    []string
	against string
	live    bool
}

func auditVerifyCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var v verifying
	cmd := &cobra.Command{
		Use: "verify [FILE]", Short: "Prove that an export is what the hub has written, all of it", Args: cobra.MaximumNArgs(1),
		Long: `Prove that an export is what the hub has written, all of it. Nothing but the file and
the hub's public key is needed: of --key, else of the context (config set-context --hub-key).
The first entry that does not fit is named, and why: altered, missing, reordered,
inserted, cut (head or tail), foreign signature.

An export of several hubs is also held to what the hubs have signed of one another: the hub whose
log does not fit is named. What cannot be checked is said, such as a hub whose log is not there.

--against compares with an older export: a log that was put back from an older copy, or
cut off behind what was exported then, is forked or cut.

Exit codes:
  0   it fits
  2   no key was given, or wrong arguments
  3   there is no such file
  4   it does not fit, or is not the older log gone on
  6   the hub is not reached (--live)
  8   it is signed by another key; or the hub does not allow to read it`,
		Example: "  rackctl audit verify audit.jsonl --key hub.pub\n  rackctl audit verify --live --against last-week.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.live == (len(args) == 1) {
				return protocol.Errorf(protocol.CodeInvalid, "audit verify", "give a file, or --live")
			}
			path := ""
			if !v.live {
				path = args[0]
			}
			return auditVerify(cmd.Context(), hubs, src, pr, path, v)
		},
	}
	cmd.Flags().StringSliceVar(&v.keys, "key", nil, "file with the hub's public key, hub.pub in its dataDir; again for keys that it had before")
	cmd.Flags().StringVar(&v.against, "against", "", "older export that this one must go on from")
	cmd.Flags().BoolVar(&v.live, "live", false, "verify the hub's log as it is now")
	return cmd
}

func auditVerify(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, path string, v verifying) error {
	keys, err := auditKeys(hubs, src, v.keys)
	if err != nil {
		return err
	}
	name := path
	if v.live {
		name = "the hub's log"
	}
	var now *auditlog.Export
	read := func(r io.Reader) (err error) {
		now, err = readExport(r, keys, v.against != "")
		return err
	}
	if v.live {
		err = readLive(ctx, hubs, read)
	} else {
		err = readAuditFile(path, read)
	}
	if err != nil {
		return misfit(name, err)
	}
	for _, log := range now.Logs {
		of := ""
		if now.Site {
			of = "hub " + log.Hub + ", "
		}
		for _, n := range log.Notes {
			pr.Progress("%sentry %d: the hub noted %s of %s: %s", of, n.Seq, n.Op, n.Target, n.Detail)
		}
	}
	tellUnchecked(pr, now)
	if v.against != "" {
		if err := compareAudit(now, name, v.against, keys); err != nil {
			return err
		}
	}
	return pr.Show(exportView(now))
}

// exportView shows an export that fits: the log, or those of a site.
func exportView(e *auditlog.Export) printer.View {
	seq := func(n uint64) string { return strconv.FormatUint(n, 10) }
	cells := func(log *auditlog.History) []string {
		return []string{"fits", seq(log.First), seq(log.Last), strconv.Itoa(log.Checkpoints), printer.Stamp(&log.ExportedAt), log.Hash}
	}
	const columns = "RESULT FIRST LAST CHECKPOINTS EXPORTED-AT"
	if !e.Site {
		log := e.Logs[0]
		return printer.View{Columns: printer.Columns(columns, "HASH"), Single: true, Items: []printer.Item{{Value: log.Report, Name: "audit/" + seq(log.Last), Cells: cells(log)}}}
	}
	v := printer.View{Columns: printer.Columns("HUB "+columns, "HASH")}
	for _, log := range e.Logs {
		v.Items = append(v.Items, printer.Item{Value: log.Report, Name: "audit/" + log.Hub + "/" + seq(log.Last), Cells: append([]string{log.Hub}, cells(log)...)})
	}
	for _, u := range e.Unchecked {
		v.Items = append(v.Items, printer.Item{Value: u, Name: "audit/" + u.Hub, Cells: []string{u.Hub, "unchecked", "", "", "", "", ""}})
	}
	return v
}

// tellUnchecked says what an export says nothing of.
func tellUnchecked(pr *printer.Printer, e *auditlog.Export) {
	for _, u := range e.Unchecked {
		pr.Progress("hub %s is not checked: %s", u.Hub, u.Why)
	}
}

// readExport verifies an export of either form. The hashes of one log are kept where it is to be compared.
func readExport(r io.Reader, keys *auditlog.Keys, compared bool) (*auditlog.Export, error) {
	r, site := auditlog.IsSite(r)
	if site || compared {
		return auditlog.ReadExport(r, keys)
	}
	rep, err := auditlog.Verify(r, keys, nil)
	return &auditlog.Export{ExportedAt: rep.ExportedAt, Logs: []*auditlog.History{{Report: rep}}}, err
}

func compareAudit(now *auditlog.Export, name, against string, keys *auditlog.Keys) error {
	var old *auditlog.Export
	err := readAuditFile(against, func(r io.Reader) (err error) {
		old, err = auditlog.ReadExport(r, keys)
		return err
	})
	if err != nil {
		return misfit(against, err)
	}
	if f := now.Follows(old); f != nil {
		return misfit(name+" against "+against, f)
	}
	return nil
}

// misfit makes an error of a finding; others stay as they are.
func misfit(name string, err error) error {
	f, ok := errors.AsType[*auditlog.Finding](err)
	if !ok {
		return err
	}
	out := protocol.Errorf(f.Code(), "audit verify", "%s: %w", name, f)
	if f.Fault == auditlog.Foreign {
		return out.WithHint("give the key with which the hub signs, and those that it had before: --key FILE --key OLD")
	}
	if f.Fault == auditlog.Forked || f.Fault == auditlog.Cut {
		return out.WithHint("keep both files: the log was cut, begun anew, or put back from an older copy of the hub's disk, unless the export ended early")
	}
	return out.WithHint("keep the file, and compare the entry with an export from elsewhere")
}

// auditKeys are the hub's public keys, of files or else of the context.
func auditKeys(hubs *client.Hubs, src *files.Input, files []string) (*auditlog.Keys, error) {
	var all []ed25519.PublicKey
	add := func(file, text string) error {
		keys, err := publickey.Parse(file, text)
		for _, k := range keys {
			all = append(all, k.Key)
		}
		return err
	}
	for _, file := range files {
		text, err := src.Small(file)
		if err != nil {
			return nil, err
		}
		if err := add(file, text); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		if c, err := hubs.Chosen(); err == nil && c.HubKey != "" {
			if err := add("context "+c.Name, c.HubKey); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "audit verify", "the hub's public key is not known").
			WithHint("copy hub.pub from the hub's dataDir, by a way that you trust, and give it with --key or rackctl config set-context NAME --hub-key")
	}
	return auditlog.NewKeys(all...), nil
}

func readAuditFile(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return protocol.Errorf(protocol.CodeNotFound, "audit verify", "%w", err).WithHint("check the path %s", path)
	}
	defer f.Close()
	return read(f)
}

// readLive reads an export as it comes from the hub.
func readLive(ctx context.Context, hubs *client.Hubs, read func(io.Reader) error) error {
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	return exportInto(ctx, c, exported{}, read)
}

// exportInto has read read an export. Where the hub fails, that is the error.
func exportInto(ctx context.Context, c *api.Client, of exported, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := of.export(ctx, c, w)
		sent <- err
		w.CloseWithError(err)
	}()
	err := read(r)
	r.CloseWithError(errReadEnough)
	if sendErr := <-sent; sendErr != nil && !errors.Is(sendErr, errReadEnough) {
		return sendErr
	}
	return err
}

// errReadEnough ends an export whose reader has found what it looked for.
var errReadEnough = errors.New("read enough")
