package object

import (
	"context"
	"errors"
	"strings"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
)

// requestTarget reads "requests", "request ID" or "request/ID": requests are no resources, and are shown
// as if they were.
func requestTarget(args []string) (id string, is bool) {
	kind, id, _ := strings.Cut(args[0], "/")
	if len(args) > 1 {
		id = args[1]
	}
	kind = strings.ToLower(kind)
	return id, kind == "request" || kind == "requests"
}

func getRequests(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, id string) error {
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
