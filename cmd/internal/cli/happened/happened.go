package happened

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// page is how many events are asked for at once.
const page = 500

// Query is the flags of which events are meant.
type Query struct {
	of, rack string
	since    time.Duration
	codes    []string
}

// Flags adds them to a command.
func (q *Query) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.of, "for", "", "only those about this KIND/NAME; of a claim also those of its server since, of a rack those of its servers and agents")
	cmd.Flags().StringVar(&q.rack, "rack", "", "only those of servers and agents in this rack")
	cmd.Flags().DurationVar(&q.since, "since", 0, "only those of the last so long, such as 1h")
	cmd.Flags().StringSliceVar(&q.codes, "code", nil, "only those with one of these codes")
}

// Read makes the flags what the hub is asked.
func (q *Query) Read(now time.Time) (out api.EventQuery, err error) {
	out = api.EventQuery{Rack: q.rack}
	if q.since < 0 {
		return out, protocol.Errorf(protocol.CodeInvalid, "", "--since %s is in the time to come", q.since)
	}
	if q.since > 0 {
		out.Since = now.Add(-q.since)
	}
	if q.of != "" {
		kind, name, _ := strings.Cut(q.of, "/")
		of, ok := resource.ParseKind(kind)
		if !ok || name == "" {
			return out, protocol.Errorf(protocol.CodeInvalid, "", "--for %q is not KIND/NAME", q.of).WithHint("such as --for server/n1")
		}
		out.For = string(of) + "/" + name
	}
	for _, c := range q.codes {
		i := slices.IndexFunc(resource.EventCodes(), func(known resource.EventCode) bool { return strings.EqualFold(c, string(known)) })
		if i < 0 {
			return out, protocol.Errorf(protocol.CodeInvalid, "", "there is no event with the code %q", c).WithHint("the codes are %s", printer.Join(resource.EventCodes()))
		}
		out.Codes = append(out.Codes, resource.EventCodes()[i])
	}
	return out, nil
}

// Of is what is asked about one resource.
func Of(kind resource.Kind, name string) api.EventQuery {
	return api.EventQuery{For: string(kind) + "/" + name}
}

// All reads all events of a query, and up to which index was read. It returns those that are left with an
// [api.IncompleteError].
func All(ctx context.Context, c *api.Client, q api.EventQuery) (out []api.EventRecord, next uint64, err error) {
	q.Limit = page
	for {
		list, err := c.EventsOf(ctx, q)
		if err != nil {
			return nil, q.After, err
		}
		out, q.After = append(out, list.Items...), list.Next
		if len(list.Items) < page {
			return out, list.Next, list.Incomplete.Err("list events")
		}
	}
}

// View is a view of events.
func View(events []api.EventRecord) printer.View {
	v := printer.View{Columns: printer.Columns("INDEX TIME AGENT SERVER CODE MESSAGE", "TARGET", "SEQ")}
	for _, e := range events {
		index, target := strconv.FormatUint(e.Index, 10), ""
		if e.Target != nil {
			target = e.Target.String()
		}
		v.Items = append(v.Items, printer.Item{
			Value: e, Name: "event/" + index,
			Cells: []string{index, printer.Stamp(&e.At), e.Agent, e.Server, string(e.Code), e.Message, target, fmt.Sprint(e.Seq)},
		})
	}
	return v
}

// Gap says what the indexes are that are missing between events, which somebody could take for events
// that were lost; empty where there are none. A hub of 0.1.0 counted all records of its log, and a scope hides
// what is outside of it. What was lost on the way is an event of its own: EventsLost.
func Gap(events []api.EventRecord) string {
	missing := uint64(0)
	for i := 1; i < len(events); i++ {
		missing += events[i].Index - events[i-1].Index - 1
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers between these have no event that you are shown; they are other records of the hub's log, or of servers outside your scope; lost events are shown as %s", missing, resource.EventLost)
}
