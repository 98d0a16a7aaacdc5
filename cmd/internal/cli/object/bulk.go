package object

import (
	"context"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func getBulk(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	id, err := nameIn(args, "bulk operations")
	if err != nil {
		return err
	}
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
func describeBulk(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	id, err := nameIn(args, "bulk operations")
	if err != nil {
		return err
	}
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
