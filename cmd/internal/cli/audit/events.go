package audit

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/happened"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func eventsCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var follow, noHeaders bool
	var after uint64
	var query happened.Query
	cmd := &cobra.Command{
		Use: "events", Short: "Show what happened, oldest first", Args: cobra.NoArgs,
		Long: "Show what happened, oldest first. The hub shows the newest 5000 to 10000.\n\n" +
			"INDEX grows over all agents, and has gaps: the hub counts other records of its log too, and events\n" +
			"of servers outside your scope. An event that was lost on its way is never a silent gap: EventsLost\n" +
			"says which of its agent's numbers (SEQ) are missing.",
		Example: "  rackctl events --for server/n1 --since 1h\n  rackctl events --rack r1 --code UnexpectedPower,HoldViolated -f",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := query.Read(time.Now())
			if err != nil {
				return err
			}
			q.After = after
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if follow {
				return followEvents(cmd.Context(), pr, c, q, noHeaders)
			}
			all, _, err := happened.All(cmd.Context(), c, q)
			if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
				return err
			}
			v := happened.View(all)
			v.NoHeader = noHeaders
			if err := errors.Join(pr.Show(v), err); err != nil {
				return err
			}
			if gap := happened.Gap(all); gap != "" && pr.Tabular() && whole(q) {
				pr.Progress("%s", gap)
			}
			return nil
		},
	}
	query.Flags(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on, and show events as they come")
	cmd.Flags().BoolVarP(&follow, "watch", "w", false, "as --follow")
	cmd.Flags().Uint64Var(&after, "after", 0, "only events with a greater index")
	cmd.Flags().BoolVar(&noHeaders, "no-headers", false, "leave out the names of the columns")
	return cmd
}

// whole says whether nothing was left out that the caller may see: then a gap has to be explained.
func whole(q api.EventQuery) bool {
	return q.For == "" && q.Rack == "" && len(q.Codes) == 0 && q.Since.IsZero()
}

func followEvents(ctx context.Context, pr *printer.Printer, c *api.Client, q api.EventQuery, noHeaders bool) error {
	first, header := true, !noHeaders
	for {
		events, next, err := happened.All(ctx, c, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && len(events) == 0 && (first || protocol.CodeOf(err) != protocol.CodeUnavailable):
			return err
		case err != nil:
			pr.Progress("%s", err)
		}
		if len(events) > 0 {
			v := happened.View(events)
			v.NoHeader = !header
			if err := pr.Show(v); err != nil {
				return err
			}
			header = false
		}
		q.After, first = max(q.After, next), false
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(client.Every):
		}
	}
}
