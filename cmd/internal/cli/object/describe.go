package object

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/choice"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/happened"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// describedEvents is how many events a description has, the newest.
const describedEvents = 10

func describeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var ch choice.Choice
	events := true
	cmd := &cobra.Command{
		Use: "describe KIND [NAME...] | KIND/NAME...", Short: "Show resources with their conditions, what to do, and what happened", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if other, is := noResources(args); is && other.describe != nil {
				return other.describe(cmd.Context(), hubs, pr, args)
			}
			if err := ch.Read(args); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			got, missing := ch.Fetch(cmd.Context(), c, true)
			if missing != nil && got == nil {
				return missing
			}
			return errors.Join(describeAll(cmd.Context(), c, pr, ch, got, events), missing)
		},
	}
	ch.Flags(cmd)
	cmd.Flags().BoolVar(&events, "show-events", true, "with the newest events")
	return cmd
}

func describeAll(ctx context.Context, c *api.Client, pr *printer.Printer, ch choice.Choice, got []choice.Chosen, events bool) error {
	if !pr.Tabular() {
		var views []printer.View
		for _, g := range got {
			views = append(views, kinds.TableAt(g.Kind, g.Objs, time.Now(), g.Racks.Of))
		}
		return pr.ShowAll(ch.Single() && len(views[0].Items) == 1, views...)
	}
	first := true
	for _, g := range got {
		for _, obj := range g.Objs {
			if !first {
				fmt.Fprintln(pr.Out)
			}
			first = false
			if err := describe(ctx, c, pr, g, obj, events); err != nil {
				return err
			}
		}
		if len(g.Objs) == 0 && !ch.Single() {
			pr.Progress("no %s", g.Kind.Plural())
		}
	}
	return nil
}

func describe(ctx context.Context, c *api.Client, pr *printer.Printer, g choice.Chosen, obj resource.Object, events bool) error {
	v, facts, text := kinds.Describe(g.Kind, obj, time.Now(), g.Racks.Of)
	name := obj.Head().Metadata.Name
	if g.Kind == resource.KindServer {
		asked, err := requestFacts(ctx, c, name)
		if err != nil {
			return err
		}
		facts = append(facts, asked...)
	}
	if events {
		last, err := eventText(ctx, c, g.Kind, name)
		if err != nil {
			return err
		}
		text += last
	}
	return pr.Describe(v, facts, text)
}

// eventText is what happened to a resource last.
func eventText(ctx context.Context, c *api.Client, kind resource.Kind, name string) (string, error) {
	all, _, err := happened.All(ctx, c, happened.Of(kind, name))
	if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
		return "", err
	}
	if len(all) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("Events:\n")
	if n := len(all) - describedEvents; n > 0 {
		fmt.Fprintf(&b, "  %d older: rackctl events --for %s\n", n, choice.Named(kind, name))
		all = all[n:]
	}
	for _, e := range all {
		fmt.Fprintf(&b, "  %s  %s", printer.Stamp(&e.At), printer.Dash(string(e.Code)))
		if e.Message != "" {
			fmt.Fprintf(&b, "  %s", printer.Dash(e.Message))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
