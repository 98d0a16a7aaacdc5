package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// eventsPage is how many events are asked for at once.
const eventsPage = 500

func (a *app) eventsCmd() *cobra.Command {
	var follow bool
	var after uint64
	cmd := &cobra.Command{
		Use: "events", Short: "Show what happened, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			if !follow {
				all, err := allEvents(cmd.Context(), c, after)
				if err != nil {
					return err
				}
				return a.print.show(eventsView(all))
			}
			return a.followEvents(cmd.Context(), c, after)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on, and show events as they come")
	cmd.Flags().Uint64Var(&after, "after", 0, "only events with a greater index")
	return cmd
}

func allEvents(ctx context.Context, c *api.Client, after uint64) ([]api.EventRecord, error) {
	var out []api.EventRecord
	for {
		page, err := c.Events(ctx, after, eventsPage)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if len(page.Items) < eventsPage {
			return out, nil
		}
		after = page.Next
	}
}

func (a *app) followEvents(ctx context.Context, c *api.Client, after uint64) error {
	first := true
	for {
		events, err := allEvents(ctx, c, after)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || protocol.CodeOf(err) != protocol.CodeUnavailable):
			return err
		case err != nil:
			a.progress("%s", err)
		}
		if len(events) > 0 {
			v := eventsView(events)
			v.noHeader = !first
			if err := a.print.show(v); err != nil {
				return err
			}
			after = events[len(events)-1].Index
			first = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}

func eventsView(events []api.EventRecord) view {
	v := view{columns: columns("INDEX TIME AGENT SERVER CODE MESSAGE", "SEQ")}
	for _, e := range events {
		index := strconv.FormatUint(e.Index, 10)
		v.items = append(v.items, item{
			value: e, name: "event/" + index,
			cells: []string{index, stamp(&e.At), e.Agent, e.Server, string(e.Code), e.Message, fmt.Sprint(e.Seq)},
		})
	}
	return v
}
