package backup

import (
	"strconv"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/depots"
	"rackboot/protocol"
	"rackboot/state/depot"
)

func listCmd(pr *printer.Printer) *cobra.Command {
	var buckets depots.Buckets
	cmd := &cobra.Command{
		Use: "list PLACE", Short: "List the backups in a folder or bucket, the oldest first", Args: cobra.ExactArgs(1),
		Example: "  rackctl backup list /srv/backups\n  rackctl backup list s3://copies/hub --s3-endpoint https://s3.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := buckets.Place(args[0])
			if err != nil {
				return err
			}
			list, err := place.List(cmd.Context())
			if err != nil {
				return err
			}
			v := printer.View{Columns: printer.Columns("NAME MADE BYTES")}
			for _, k := range list {
				v.Items = append(v.Items, item(k))
			}
			return pr.Show(v)
		},
	}
	buckets.Flags(cmd.Flags())
	return cmd
}

func item(k depot.Kept) printer.Item {
	return printer.Item{Value: k, Name: k.Name, Cells: []string{k.Name, printer.Stamp(&k.Made), strconv.FormatInt(k.Size, 10)}}
}

func pruneCmd(pr *printer.Printer) *cobra.Command {
	var buckets depots.Buckets
	keep := 0
	cmd := &cobra.Command{
		Use: "prune PLACE --keep N", Short: "Remove all backups in a folder or bucket but the newest N", Args: cobra.ExactArgs(1),
		Long:    "Remove all backups in a folder or bucket but the newest N, by the times in their names. Verify the newest before.",
		Example: "  rackctl backup verify /srv/backups && rackctl backup prune /srv/backups --keep 14",
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 1 {
				return protocol.Errorf(protocol.CodeInvalid, "backup prune", "it is not said how many stay").WithHint("give --keep, 1 or more")
			}
			place, err := buckets.Place(args[0])
			if err != nil {
				return err
			}
			gone, err := depot.Prune(cmd.Context(), place, keep)
			for _, name := range gone {
				pr.Progress("removed %s", name)
			}
			return err
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "how many stay")
	buckets.Flags(cmd.Flags())
	return cmd
}
