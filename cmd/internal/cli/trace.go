package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// traceEvery is how often a trace that is followed is read: each time the agent is asked.
const traceEvery = 2 * time.Second

func (a *app) traceCmd() *cobra.Command {
	var attempt int
	var follow bool
	cmd := &cobra.Command{
		Use: "trace SERVER", Short: "Show what was seen of a power-on, from the BMC to the report", Args: cobra.ExactArgs(1),
		Long: "Show what was seen of a server's last power-on, or of an earlier one that its agent still\n" +
			"has, in the order in which the agent saw it: what was written to the BMC and read from it,\n" +
			"what firmware asked by DHCP, TFTP and HTTP and was answered, and what the image reported.\n\n" +
			"The hub asks the rack's agent. Where the hub is away: rackboot-agent trace SERVER, at the\n" +
			"agent's host.",
		Example: "  rackctl trace n1\n  rackctl trace n1 --follow\n  rackctl trace n1 --attempt 2 -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("attempt") && attempt < 1:
				return protocol.Errorf(protocol.CodeInvalid, "", "--attempt %d is not a number from 1", attempt).WithHint("leave it out for the newest")
			case follow && a.print.form != formTable && a.print.form != formWide:
				return protocol.Errorf(protocol.CodeInvalid, "", "--follow writes a table only").WithHint("leave out --follow, or -o %s", a.print.form)
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			if follow {
				return a.followTrace(cmd.Context(), c, args[0], attempt)
			}
			t, err := c.Trace(cmd.Context(), args[0], attempt)
			if err != nil {
				return err
			}
			if a.print.form == formTable || a.print.form == formWide {
				return terminal.Trace(a.print.out, t)
			}
			return a.print.show(view{single: true, items: []item{{value: t, name: fmt.Sprintf("trace/%s/%d", t.Server, t.Serial)}}})
		},
	}
	cmd.Flags().IntVar(&attempt, "attempt", 0, "serial of the power-on (default: the newest)")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the power-on has ended, and show what is seen as it comes")
	return cmd
}

// followTrace shows one power-on to its end.
func (a *app) followTrace(ctx context.Context, c *api.Client, server string, attempt int) error {
	last, first := 0, true
	for {
		t, err := c.Trace(ctx, server, attempt)
		switch code := protocol.CodeOf(err); {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || code != protocol.CodeUnavailable && code != protocol.CodeTimeout):
			return err
		case err != nil:
			a.progress("%s", err)
		default:
			if first {
				attempt, first = t.Serial, false // no later one
				if err := terminal.TraceHead(a.print.out, t); err != nil {
					return err
				}
			}
			if len(t.Rows) > 0 || t.Ended() {
				if err := terminal.TraceRows(a.print.out, t, last); err != nil {
					return err
				}
				last = max(last, t.Last())
			}
			if t.Ended() {
				return terminal.TraceEnd(a.print.out, t)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(traceEvery):
		}
	}
}
