package boot

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// traceEvery is how often a trace that is followed is read: each time the agent is asked.
const traceEvery = 2 * time.Second

func traceCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
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
			case follow && !pr.Tabular():
				return protocol.Errorf(protocol.CodeInvalid, "", "--follow writes a table only").WithHint("leave out --follow, or -o %s", pr.Form)
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if follow {
				return followTrace(cmd.Context(), pr, c, args[0], attempt)
			}
			t, err := c.Servers.Trace(cmd.Context(), args[0], attempt)
			if err != nil {
				return err
			}
			if pr.Tabular() {
				return onScreen(pr, func(w io.Writer) error { return terminal.Trace(w, t) })
			}
			return pr.Show(printer.View{Single: true, Items: []printer.Item{{Value: t, Name: fmt.Sprintf("trace/%s/%d", t.Server, t.Serial)}}})
		},
	}
	cmd.Flags().IntVar(&attempt, "attempt", 0, "serial of the power-on (default: the newest)")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the power-on has ended, and show what is seen as it comes")
	return cmd
}

// onScreen writes a part of a trace; on a screen no line is longer than that.
func onScreen(pr *printer.Printer, write func(io.Writer) error) error {
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(pr.Out, pr.Broken(b.String()))
	return err
}

// followTrace shows one power-on to its end.
func followTrace(ctx context.Context, pr *printer.Printer, c *api.Client, server string, attempt int) error {
	last, first := 0, true
	for {
		t, err := c.Servers.Trace(ctx, server, attempt)
		switch code := protocol.CodeOf(err); {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || code != protocol.CodeUnavailable && code != protocol.CodeTimeout):
			return err
		case err != nil:
			pr.Progress("%s", err)
		default:
			if first {
				attempt, first = t.Serial, false // no later one
				if err := onScreen(pr, func(w io.Writer) error { return terminal.TraceHead(w, t) }); err != nil {
					return err
				}
			}
			if len(t.Rows) > 0 || t.Ended() {
				if err := onScreen(pr, func(w io.Writer) error { return terminal.TraceRows(w, t, last) }); err != nil {
					return err
				}
				last = max(last, t.Last())
			}
			if t.Ended() {
				return onScreen(pr, func(w io.Writer) error { return terminal.TraceEnd(w, t) })
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(traceEvery):
		}
	}
}
