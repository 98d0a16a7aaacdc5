package hold

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func cancelCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "cancel REQUEST", Short: "Take a reboot, power-off or resume back that has not begun", Args: cobra.ExactArgs(1),
		Long: "Take a reboot, power-off or resume back for which nothing was sent yet. The rack's agent says whether\n" +
			"that was in time: what it has begun it ends, and the command says how.",
		Example: "  rackctl get requests\n  rackctl cancel 01jd0000000000000000000000",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			id := strings.TrimPrefix(args[0], "request/")
			before, err := c.Requests.Get(cmd.Context(), id)
			if err != nil {
				return err
			}
			if before.Report.Outcome.Ended() {
				return protocol.Errorf(protocol.CodeConflict, "cancel", "request %s has ended: %s", id, before.Report.Outcome).WithHint("nothing is left to take back")
			}
			r, err := c.Requests.Cancel(cmd.Context(), id)
			if err != nil {
				return err
			}
			r, err = follow(cmd.Context(), pr, c, r, true, timeout)
			switch {
			case r.Report.Outcome == resource.OutcomeCancelled:
				return showRequest(pr, r)
			case err != nil:
				return err
			}
			return protocol.Errorf(protocol.CodeConflict, "cancel", "too late: %s", r.Report.Outcome).WithHint("it had begun; see rackctl describe server %s", r.Server)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for the agent's answer")
	return cmd
}
