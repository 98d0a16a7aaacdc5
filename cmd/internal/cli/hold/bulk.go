package hold

import (
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
)

func bulkCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bulk", Short: "What the hub works off for many servers",
		Long: "What the hub works off for many servers. rackctl hold, release, reboot and power-off with a selector make one;\n" +
			"rackctl get bulk lists them, rackctl describe bulk ID has what became of each.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "cancel ID", Short: "Have those servers not be tried that were not", Args: cobra.ExactArgs(1),
		Long:    "Have those servers not be tried that were not. What was done stays: rackctl release and rackctl cancel take that back.",
		Example: "  rackctl get bulk\n  rackctl bulk cancel 01jd0000000000000000000000",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			b, err := c.Bulks.Cancel(cmd.Context(), strings.TrimPrefix(args[0], "bulk/"))
			if err != nil {
				return err
			}
			v := asked.BulkView(b)
			v.Single = true
			return pr.Show(v)
		},
	})
	return cmd
}
