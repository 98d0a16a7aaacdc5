package group

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func groupDiffCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "diff GROUP [FROM] [TO]", Short: "Show how two revisions of a group differ", Args: cobra.RangeArgs(1, 3),
		Long: "Show how two revisions of a group differ, by default the current one and the one before it; with\n" +
			"FROM alone, that one and the current. User data is named by Secret and digest, and never shown.",
		Example: "  rackctl group diff workers\n  rackctl group diff workers 4 7 -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			var between [2]int
			for i, arg := range args[1:] {
				n, err := revisionNumber(arg)
				if err != nil {
					return err
				}
				between[i] = n
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			d, err := c.Groups.Diff(cmd.Context(), args[0], between[0], between[1])
			if err != nil {
				return err
			}
			text := fmt.Sprintf("group %s, from revision %d to %d:\n", d.Group, d.From, d.To) + changesText(pr, d.Changes)
			return pr.Text(d, []string{"servergroup/" + d.Group}, strings.TrimSuffix(text, "\n"))
		},
	}
}

func revisionNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, protocol.Errorf(protocol.CodeInvalid, "", "%q is not the number of a revision", text).WithHint("rackctl group history lists them")
	}
	return n, nil
}

func groupRevertCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.GroupRequest
	cmd := &cobra.Command{
		Use: "revert GROUP [REVISION] --reason REASON", Short: "Return a group to an older revision, and pin it", Args: cobra.RangeArgs(1, 2),
		Long: "Return a group to an older revision, by default the last verified one with another image, of no\n" +
			"entry that the group rejects; it says which it took, and which it passed over. Image\n" +
			"and user data return together, as a new revision that is a copy of the old. The group is pinned\n" +
			"to it, and the entry that it came from is rejected, so that the catalogue does not undo it.\n\n" +
			"What it does to servers that run is up to the group's roll-out strategy, and is said. Where that\n" +
			"is Reprovision, nothing is installed anew without an approval (rackctl approve).",
		Example: "  rackctl group revert workers --reason 'loses its network after an hour' --dry-run\n  rackctl group revert workers 6 --reason 'known good'",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 1 {
				if r.Revision, err = revisionNumber(args[1]); err != nil {
					return err
				}
			}
			if err := r.Check(api.GroupRevert); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Groups.Command(cmd.Context(), args[0], api.GroupRevert, r)
			if err != nil {
				return err
			}
			if out.Group == nil {
				return protocol.Errorf(protocol.CodeInternal, "revert group", "the hub's answer has no group")
			}
			return pr.Text(out, []string{"servergroup/" + args[0]}, revertText(pr, out, r.Revision, r.DryRun))
		},
	}
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "say what would be, and change nothing")
	reasonFlag(cmd, &r.Reason)
	return cmd
}

// revertText says what a return changes, which revision was chosen where none was named, and what follows for servers that run.
func revertText(pr *printer.Printer, out api.GroupAnswer, number int, dryRun bool) string {
	g := out.Group
	name := g.Metadata.Name
	is := "is"
	if dryRun {
		is = "would be"
	}
	chosen := ""
	if number == 0 {
		chosen = ", the last verified one with another image"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "group %s: revision %d %s a copy of %d%s\n", name, out.Revision, is, out.CopyOf, chosen)
	if len(out.Skipped) > 0 {
		fmt.Fprintf(&b, "Not taken, because the group rejects their entries: %s.\n", numbers(out.Skipped))
	}
	b.WriteString(changesText(pr, out.Changes))
	fmt.Fprintf(&b, "%s: %s.\n", g.Spec.Rollout.Strategy, strategyText(g.Spec.Rollout.Strategy))
	rejected := ""
	for _, c := range out.Changes {
		if c.Field == "bootImage" && c.From != "" {
			rejected = fmt.Sprintf(", with %s rejected", c.From)
		}
	}
	fmt.Fprintf(&b, "The group %s pinned to it%s, until rackctl group unpin %s --forgive.", is, rejected, name)
	if dryRun {
		b.WriteString("\nNothing was changed.")
	} else {
		fmt.Fprintf(&b, "\nrackctl rollout status %s --watch --revision %d shows how it reaches the servers.", name, out.Revision)
	}
	return b.String()
}

// numbers are numbers of revisions in one line.
func numbers(of []int) string {
	words := make([]string, len(of))
	for i, n := range of {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// strategyText says what another revision does to servers that run.
func strategyText(s resource.RolloutStrategy) string {
	switch s {
	case resource.RolloutOnNextBoot:
		return "no server that runs is touched; first boots take the revision, and with boot: Network each power-on"
	case resource.RolloutReboot:
		return "servers that run are rebooted softly, wave by wave, and boot the revision from the network"
	case resource.RolloutReprovision:
		return "servers that run are INSTALLED ANEW, wave by wave, and THEIR DISKS ARE OVERWRITTEN; each needs an approval first, see rackctl approve list"
	}
	return "this rackctl does not know the strategy"
}

// shortened has the first digits of the digest that ends a field's text, such as SECRET@sha256:….
func shortened(s string) string {
	const algorithm, digits = "sha256:", 64
	if at := strings.LastIndex(s, algorithm); at >= 0 && len(s) == at+len(algorithm)+digits {
		return s[:at] + printer.ShortDigest(s[at:])
	}
	return s
}

// changesText is a table of fields; digests are short but in the wide form.
func changesText(pr *printer.Printer, all []api.GroupChange) string {
	if len(all) == 0 {
		return "  they boot the same\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "  FIELD\tFROM\tTO")
	for _, c := range all {
		if pr.Form != printer.FormWide {
			c.From, c.To = shortened(c.From), shortened(c.To)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", printer.Dash(c.Field), printer.Dash(c.From), printer.Dash(c.To))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}
