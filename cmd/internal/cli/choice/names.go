package choice

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Names are the names of one kind that are given, or that the selectors mean; selected says which of both.
// A list that may lack some is an error: what is done to all must not leave out some silently.
func (ch *Choice) Names(ctx context.Context, c func() (*api.Client, error), kind resource.Kind, given []string) (names []string, selected bool, err error) {
	if len(given) == 0 && !ch.Selects() {
		return nil, false, protocol.Errorf(protocol.CodeInvalid, "", "name at least one %s, or select some with -l", kind)
	}
	if err := ch.Read(append([]string{string(kind)}, given...)); err != nil {
		return nil, false, err
	}
	if !ch.Selects() {
		return ch.Wanted[0].Names, false, nil
	}
	hub, err := c()
	if err != nil {
		return nil, false, err
	}
	for got, err := range ch.Pages(ctx, hub, kind, Needed{Only: "metadata.name"}) {
		if err != nil {
			return nil, false, err
		}
		if got.Lacks != nil {
			return nil, false, got.Lacks
		}
		for _, o := range got.Objs {
			names = append(names, o.Head().Metadata.Name)
		}
	}
	return names, true, nil
}
