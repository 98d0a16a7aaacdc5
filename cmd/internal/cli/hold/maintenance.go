package hold

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func maintenanceCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "maintenance", Short: "Approve or deny maintenances of claimed servers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		maintenanceWordCmd(hubs, pr, api.MaintenanceApprove, "Let a maintenance have its claimed server", "approved"),
		maintenanceWordCmd(hubs, pr, api.MaintenanceDeny, "Refuse a maintenance its claimed server", "denied"),
	)
	return cmd
}

func maintenanceWordCmd(hubs *client.Hubs, pr *printer.Printer, action, short, done string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: action + " NAME --reason REASON", Short: short, Args: cobra.ExactArgs(1),
		Long: short + ". The last word counts until the maintenance has begun; a change of its spec asks\n" +
			"for a new one.",
		Example: "  rackctl maintenance " + action + " m1 --reason 'window of tonight'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			m, err := c.Maintenances.Command(cmd.Context(), args[0], action, api.MaintenanceRequest{Reason: reason})
			if err != nil {
				return err
			}
			pr.Progress("maintenance %s: %s", args[0], done)
			return pr.Show(kinds.View(resource.KindMaintenance, m))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with the maintenance")
	return cmd
}
