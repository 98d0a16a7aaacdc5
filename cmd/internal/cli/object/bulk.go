package object

import (
	"context"
	"strings"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// bulkID is the id that somebody gives of a bulk operation; is says whether one is meant, or all.
func bulkID(args []string) (id string, is bool) {
	kind, id, _ := strings.Cut(args[0], "/")
	if len(args) > 1 {
		id = args[1]
	}
	return id, strings.EqualFold(kind, "bulk") && len(args) <= 2
}

func getBulk(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	id, _ := bulkID(args)
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	var all []api.BulkStatus
	if id == "" {
		all, err = c.Bulks.List(ctx)
	} else {
		var one api.BulkStatus
		one, err = c.Bulks.Get(ctx, id)
		all = []api.BulkStatus{one}
	}
	if err != nil {
		return err
	}
	if len(all) == 0 && pr.Tabular() {
		pr.Progress("no bulk operations")
		return nil
	}
	v := asked.BulkView(all...)
	v.Single = id != ""
	return pr.Show(v)
}

// describeBulk shows what became of each.
func describeBulk(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, id string) error {
	if id == "" {
		return protocol.Errorf(protocol.CodeInvalid, "", "name one").WithHint("rackctl get bulk lists them")
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	b, err := c.Bulks.Get(ctx, id)
	if err != nil {
		return err
	}
	v := asked.BulkView(b)
	v.Single = true
	return pr.Describe(v, asked.BulkFacts(b), "")
}
