package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *app) maintenanceCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "maintenance", Short: "Approve or deny maintenances of claimed servers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.maintenanceWordCmd(api.MaintenanceApprove, "Let a maintenance have its claimed server", "approved"),
		a.maintenanceWordCmd(api.MaintenanceDeny, "Refuse a maintenance its claimed server", "denied"),
	)
	return cmd
}

func (a *app) maintenanceWordCmd(action, short, done string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: action + " NAME --reason REASON", Short: short, Args: cobra.ExactArgs(1),
		Long: short + ". The last word counts until the maintenance has begun; a change of its spec asks\n" +
			"for a new one.",
		Example: "  rackctl maintenance " + action + " m1 --reason 'window of tonight'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			m, err := c.Maintenance(cmd.Context(), args[0], action, api.MaintenanceRequest{Reason: reason})
			if err != nil {
				return err
			}
			a.progress("maintenance %s: %s", args[0], done)
			v := objectsView(resource.KindMaintenance, []resource.Object{m}, time.Now())
			v.single = true
			return a.print.show(v)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with the maintenance")
	return cmd
}

func maintenanceCells(m *resource.Maintenance, now time.Time) []string {
	approval := ""
	if w := m.Status.Approval; w != nil {
		if approval = "approved by " + w.By; w.Denied {
			approval = "denied by " + w.By
		}
	}
	return []string{
		m.Metadata.Name, m.Spec.ServerRef.Name, string(m.Status.State), string(m.Spec.Policy), strconv.Itoa(m.Spec.Priority), string(m.Spec.ServerPower),
		age(m.Metadata.CreatedAt, now), m.Spec.Reason, approval, bootSource(m.Spec.Boot.Image, m.Spec.Boot.ImageFrom, m.Spec.Boot.BootEnv), m.Status.Message,
	}
}
