package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// eventsPage is how many events are asked for at once.
const eventsPage = 500

func eventsCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var follow bool
	var after uint64
	cmd := &cobra.Command{
		Use: "events", Short: "Show what happened, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if !follow {
				all, err := allEvents(cmd.Context(), c, after)
				if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
					return err
				}
				return errors.Join(pr.Show(eventsView(all)), err)
			}
			return followEvents(cmd.Context(), pr, c, after)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on, and show events as they come")
	cmd.Flags().Uint64Var(&after, "after", 0, "only events with a greater index")
	return cmd
}

// allEvents returns those that are left with an [api.IncompleteError].
func allEvents(ctx context.Context, c *api.Client, after uint64) ([]api.EventRecord, error) {
	var out []api.EventRecord
	for {
		page, err := c.Events(ctx, after, eventsPage)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if len(page.Items) < eventsPage {
			return out, page.Incomplete.Err("list events")
		}
		after = page.Next
	}
}

func followEvents(ctx context.Context, pr *printer.Printer, c *api.Client, after uint64) error {
	first := true
	for {
		events, err := allEvents(ctx, c, after)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && len(events) == 0 && (first || protocol.CodeOf(err) != protocol.CodeUnavailable):
			return err
		case err != nil:
			pr.Progress("%s", err)
		}
		if len(events) > 0 {
			v := eventsView(events)
			v.NoHeader = !first
			if err := pr.Show(v); err != nil {
				return err
			}
			after = events[len(events)-1].Index
			first = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(client.Every):
		}
	}
}

func eventsView(events []api.EventRecord) printer.View {
	v := printer.View{Columns: printer.Columns("INDEX TIME AGENT SERVER CODE MESSAGE", "SEQ")}
	for _, e := range events {
		index := strconv.FormatUint(e.Index, 10)
		v.Items = append(v.Items, printer.Item{
			Value: e, Name: "event/" + index,
			Cells: []string{index, printer.Stamp(&e.At), e.Agent, e.Server, string(e.Code), e.Message, fmt.Sprint(e.Seq)},
		})
	}
	return v
}
