package object

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// hubView is a view of hubs.
func hubView(all ...api.HubStatus) printer.View {
	v := printer.View{Columns: printer.Columns("HUB STATE RACKS SINCE STARTED VERSION", "API", "BEFORE", "ANSWERS")}
	for _, h := range all {
		answers := ""
		if h.Answers {
			answers = "yes"
		}
		v.Items = append(v.Items, printer.Item{Value: h, Name: "hub/" + h.Name, Cells: []string{
			h.Name, string(h.State), strconv.Itoa(h.Racks), printer.Stamp(h.Since), printer.Stamp(&h.StartedAt), h.Version, h.API, h.Before, answers,
		}})
	}
	return v
}

func getHubs(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	name, err := nameIn(args, "hubs")
	if err != nil {
		return err
	}
	if name == "" {
		all, err := c.Hubs.List(ctx)
		if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
			return err
		}
		return errors.Join(pr.Show(hubView(all...)), err)
	}
	one, err := c.Hubs.Get(ctx, name)
	if err != nil {
		return err
	}
	v := hubView(one)
	v.Single = true
	return pr.Show(v)
}

// describeHub shows what one works.
func describeHub(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, args []string) error {
	name, err := nameIn(args, "hubs")
	if err != nil {
		return err
	}
	if name == "" {
		return protocol.Errorf(protocol.CodeInvalid, "", "name one").WithHint("rackctl get hubs lists them")
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	one, err := c.Hubs.Get(ctx, name)
	if err != nil {
		return err
	}
	v := hubView(one)
	v.Single = true
	return pr.Describe(v, []printer.Fact{{"Works", strings.Join(one.Units, ", ")}}, "")
}

// nameIn is the name that somebody gives with what is shown as a resource: KIND/NAME, KIND NAME, or empty for all.
func nameIn(args []string, plural string) (string, error) {
	_, name, _ := strings.Cut(args[0], "/")
	switch {
	case len(args) > 2 || len(args) == 2 && name != "":
		return "", protocol.Errorf(protocol.CodeInvalid, "", "name one of the %s, or none for all", plural)
	case len(args) == 2:
		return args[1], nil
	}
	return name, nil
}
