package inventory

import (
	"context"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// hearArchitecture keeps what a server's firmware says of its architecture, where nobody else says one,
// and names what contradicts it.
func hearArchitecture(ctx context.Context, cfg *Config, f plan.Fleet, s *resource.Server, conds *bmcConditions) error {
	verdict, heard, words := plan.HeardArchitecture(f, s)
	switch {
	case verdict == plan.HeardContradicts:
		conds.server(s.Metadata.Name, resource.CondArchitectureContradicted, words)
		return nil
	case verdict != plan.HeardTake, s.Status.HeardArchitecture == heard:
		return nil
	}
	next, err := store.Get[*resource.Server](cfg.Store.Objects, s.Metadata.Name)
	if err == nil {
		next.Status.HeardArchitecture = heard
		err = cfg.Store.Objects.Put(ctx, next)
	}
	if code := protocol.CodeOf(err); code == protocol.CodeConflict || code == protocol.CodeNotFound {
		return nil // the next turn judges it again
	}
	if err == nil {
		cfg.Logger.Info("architecture heard", "server", s.Metadata.Name, "architecture", heard)
	}
	return err
}
