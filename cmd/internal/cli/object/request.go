package object

import (
	"context"
	"errors"
	"strings"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/happened"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// noResource is what is shown as if it were a resource.
type noResource struct {
	plural, instead string
	show, describe  show // describe is nil where there is no more to show
}

type show func(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error

// noResources finds what somebody names who means what is no resource: requests, events, bulk operations or hubs.
func noResources(args []string) (noResource, bool) {
	kind, _, _ := strings.Cut(args[0], "/")
	switch strings.ToLower(kind) {
	case "request", "requests":
		return noResource{"requests", "rackctl get requests lists all", getRequests, nil}, true
	case "bulk":
		return noResource{"bulk operations", "rackctl get bulk lists them", getBulk, describeBulk}, true
	case "event", "events":
		return noResource{"events", "rackctl events has --for, --rack, --code, --since and --follow", getEvents, nil}, true
	case "hub", "hubs":
		return noResource{"hubs", "rackctl get hubs lists all", getHubs, describeHub}, true
	}
	return noResource{}, false
}

func getEvents(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	if len(args) > 1 || strings.Contains(args[0], "/") {
		return protocol.Errorf(protocol.CodeInvalid, "", "events have no names").WithHint("rackctl events --after INDEX begins behind one")
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	all, _, err := happened.All(ctx, c, api.EventQuery{})
	if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
		return err
	}
	return errors.Join(pr.Show(happened.View(all)), err)
}

func getRequests(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	id, err := nameIn(args, "requests")
	if err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	var all []api.RequestStatus
	if id == "" {
		all, err = c.Requests.List(ctx, "")
	} else {
		var one api.RequestStatus
		one, err = c.Requests.Get(ctx, id)
		all = []api.RequestStatus{one}
	}
	if err != nil {
		return err
	}
	v := asked.View(all...)
	v.Single = id != ""
	if len(all) == 0 && pr.Tabular() {
		pr.Progress("no requests")
		return nil
	}
	return pr.Show(v)
}

// requestFacts are the requests of a server, a line each.
func requestFacts(ctx context.Context, c *api.Client, server string) (facts []printer.Fact, err error) {
	all, err := c.Requests.List(ctx, server)
	for _, r := range all {
		text := string(r.Action) + " by " + r.By + ": " + string(r.Report.Outcome)
		if why := asked.Reason(r); why != "" {
			text += ", " + why
		}
		facts = append(facts, printer.Fact{"Request " + r.ID, text})
	}
	if _, incomplete := errors.AsType[*api.IncompleteError](err); incomplete {
		return append(facts, printer.Fact{"Requests", "some may be missing: " + err.Error()}), nil
	}
	return facts, err
}
