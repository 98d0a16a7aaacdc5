package object

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func importCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var r api.ImportRequest
	cmd := &cobra.Command{
		Use: "import FILE --reason REASON", Short: "Take what rackctl export wrote at another hub", Args: cobra.ExactArgs(1),
		Long: `Take what rackctl export wrote at another hub; - is standard input. Each object is taken whole,
with its uid, or not at all, and nothing that is here is replaced: what differs is named as a
conflict. The same again changes nothing, and takes what was left.

A file proves nothing by itself. That a server is installed counts only where you accept the key of
the agent that signed the record (--accept-agent-key; --dry-run names the keys, compare them with
what rackctl export named at the other hub), and then as your word. Without that, the claim waits
in NeedsDecision and its server is not booted from the network: rackctl server adopt.`,
		Example: "  rackctl import fleet.json --reason 'move to hub b' --dry-run\n" +
			"  rackctl import fleet.json --reason 'move to hub b' --accept-agent-key 5a0c66d1e2f3",
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := readImport(src, args[0])
			if err != nil {
				return err
			}
			r.Keys, r.Objects = e.Keys, e.Objects
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Import(cmd.Context(), r)
			if err != nil {
				return err
			}
			for _, l := range e.LeftOut {
				pr.Progress("not in the file: %s/%s: %s", strings.ToLower(string(l.Kind)), l.Name, l.Reason)
			}
			return imported(pr, out, r.DryRun)
		},
	}
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "let the hub judge everything, and change nothing")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why; kept with what counts by your word")
	cmd.Flags().StringSliceVar(&r.AcceptKeys, "accept-agent-key", nil, "id of an agent key whose records count, or all; may be repeated")
	cmd.Flags().BoolVar(&r.AcceptWords, "accept-words", false, "let count what people adopted at the other hub")
	return cmd
}

func readImport(src *files.Input, name string) (api.Export, error) {
	in := src.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return api.Export{}, protocol.Errorf(protocol.CodeNotFound, "import", "%w", err).WithHint("name a file that rackctl export wrote")
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, api.MaxImport+1))
	if err != nil {
		return api.Export{}, protocol.Errorf(protocol.CodeUnavailable, "import", "read %s: %w", name, err)
	}
	return api.ParseExport(raw)
}

// imported prints what became of each object. That something was not taken is an error,
// after all of it was said.
func imported(pr *printer.Printer, out api.ImportAnswer, dryRun bool) error {
	var names, lines []string
	count := map[api.ImportOutcome]int{}
	for _, r := range out.Results {
		name := strings.ToLower(string(r.Kind)) + "/" + r.Name
		line := fmt.Sprintf("%s %s", name, r.Outcome)
		if dryRun {
			line += " (dry run)"
		}
		if r.Message != "" {
			line += ": " + r.Message
		}
		names, lines = append(names, name), append(lines, line)
		count[r.Outcome]++
	}
	if err := pr.Text(out, names, strings.Join(lines, "\n")); err != nil {
		return err
	}
	for _, k := range out.Keys {
		word := "not accepted"
		if k.Accepted {
			word = "accepted"
		}
		pr.Progress("agent key %s of rack %s signed %d records: %s", k.ID, k.Rack, k.Records, word)
	}
	if n := count[api.ImportDecision]; n > 0 {
		pr.Progress("%d boot configurations do not count; their claims wait for rackctl server adopt", n)
	}
	if n := count[api.ImportConflict] + count[api.ImportRefused]; n > 0 {
		return protocol.Errorf(protocol.CodeConflict, "import", "%d of %d objects were not taken", n, len(out.Results)).
			WithHint("each is named above with what is wrong; correct it and import the same file again")
	}
	return nil
}
