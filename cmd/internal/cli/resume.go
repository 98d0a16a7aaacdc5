package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *app) resumeCmd() *cobra.Command {
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
			c, _, err := a.client()
			if err != nil {
				return err
			}
			req := api.RebootRequest{Action: resource.RequestResume, Ref: ref, Reason: reason, Retry: retry}
			if within != 0 {
				at := time.Now().Add(within)
				req.NotAfter = &at
			}
			r, err := c.Reboot(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			if wait {
				if r, err = a.waitRequest(cmd.Context(), c, r.ID, timeout); err != nil {
					return err
				}
			}
			return a.showRequest(r)
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

// safetyFacts are what is known of a server that somebody else powers on.
func safetyFacts(s *resource.Server) []fact {
	out := []fact{
		{"Safe stop", reasoned(string(s.Status.SafeStop), "", s.Status.SafeStopReason)}, {"Detects", s.Status.Detects}, {"Restore policy", string(s.Status.Restore)},
	}
	if r := s.Status.Report; r != nil && r.Safety != nil {
		out = append(out, fact{"Safe stop remedy", r.Safety.SafeStop.Remedy})
	}
	if r := s.Status.Report; r != nil && r.Unexpected != nil {
		u := r.Unexpected
		out = append(out, fact{"Unexpected power", fmt.Sprintf("%s at %s, shown by %s", u.To, stamp(&u.At), dash(string(u.By)))},
			fact{"Stands", reasoned(string(u.Stands), "", u.Why)})
	}
	return out
}
