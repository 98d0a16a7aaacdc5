package backup

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func statusCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show what backups the hub makes by itself", Args: cobra.NoArgs,
		Long: "Show what backups the hub makes by itself: where, how often, the last one that was read back, and why\n" +
			"the last attempt failed.\n\n" +
			"Exit codes:\n" +
			"   0  all is well, or the hub makes none\n" +
			"   4  the last one is older than twice the time between two\n" +
			"   2 to 8 as with any command: the hub was not asked",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			s, err := c.Backups.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := pr.Text(s, nil, statusText(s)); err != nil {
				return err
			}
			if s.Overdue {
				return protocol.Errorf(protocol.CodeConflict, "backup status", "the last backup is older than twice the time between two").
					WithHint("see why the last attempt failed; rackctl backup create makes one now")
			}
			return nil
		},
	}
}

func statusText(s api.BackupStatus) string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	switch {
	case s.Sealed == "":
		line("Backups", "none: the hub's file does not say for whom they are encrypted")
	case s.Place == "":
		line("Backups", "when somebody asks (%s)", s.Sealed)
	default:
		line("Backups", "every %s to %s (%s); %d are kept", s.Every, s.Place, s.Sealed, s.Keep)
	}
	if s.Running != nil {
		line("Running", "since %s", printer.Stamp(s.Running))
	}
	if l := s.Last; l != nil {
		line("Last", "%s, %d bytes in %.1f s, read back", l.Name, l.Size, l.Seconds)
	} else if s.Place != "" {
		line("Last", "none")
	}
	if s.Next != nil {
		line("Next", "%s", printer.Stamp(s.Next))
	}
	if f := s.Failure; f != nil {
		line("Failed", "%s, %s since %s: %s: %s", printer.Stamp(&f.At), printer.Plural(f.Count, "time"), printer.Stamp(&f.Since), f.Code, f.Detail)
		if f.Hint != "" {
			line("Hint", "%s", f.Hint)
		}
	}
	_ = t.Flush() // into memory
	return strings.TrimSuffix(text.String(), "\n")
}
