package hold

import (
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func resumeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var reason, ref string
	var within, timeout time.Duration
	var wait, retry bool
	cmd := &cobra.Command{
		Use: "resume SERVER --reason REASON", Short: "Boot a server on that something else stopped or started", Args: cobra.ExactArgs(1),
		Long: "Boot a server on, as its claim says, that something else stopped or started: one with the condition\n" +
			"SafeStopped or UnexpectedPower. Its disk is armed for once, and a server that is On is restarted where it\n" +
			"stands, without asking what runs there: look at it first. A server that runs as ordered is refused; reboot\n" +
			"stops and starts it. A held server is refused.",
		Example: "  rackctl resume n1 --reason 'breaker of row 7 tripped, reset' --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			req := api.RebootRequest{Action: resource.RequestResume, Ref: ref, Reason: reason, Retry: retry}
			if within != 0 {
				at := time.Now().Add(within)
				req.NotAfter = &at
			}
			r, err := c.Requests.Reboot(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			if r, err = follow(cmd.Context(), pr, c, r, wait, timeout); err != nil {
				return err
			}
			return showRequest(pr, r)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what was found at the server, for the audit log and the events")
	cmd.Flags().BoolVar(&retry, "retry", false, "begin an interrupted installation anew, although its grant is used up: what it wrote to the disk is written over")
	cmd.Flags().DurationVar(&within, "within", 0, "give up if it was not begun by then (default 10m)")
	cmd.Flags().StringVar(&ref, "ref", "", "what it belongs to, kept as it is; the same again is the same request until that has ended")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it boots")
	cmd.Flags().DurationVar(&timeout, "timeout", 15*time.Minute, "how long to wait")
	return cmd
}
