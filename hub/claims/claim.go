package claims

import (
	"context"
	"errors"
	"slices"

	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// bind gives a claim the server that was chosen for it.
func (r *Room) bind(ctx context.Context, b plan.Binding) error {
	cl, err := store.Get[*resource.Claim](r.cfg.Objects, b.Claim)
	if err != nil {
		return err
	}
	if cl.Status.Server != "" {
		return nil // another rack was faster
	}
	cl.Status.Server = b.Server
	if err := r.cfg.Objects.Put(ctx, cl); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.claim.bound")
	r.cfg.Events.OwnOf(ctx, resource.TargetOf(cl), b.Server, resource.EventBound, "claim "+b.Claim)
	return nil
}

// claim moves one claim along: validate, configure and grant; or let it go.
func (r *Room) claim(ctx context.Context, f plan.Fleet, cl *resource.Claim) ([]resource.ConditionState, error) {
	cfg := f.ConfigOf(cl)
	if cl.Metadata.DeletedAt != nil {
		return nil, errors.Join(r.cfg.Requests.EndOf(ctx, cl), r.letGo(ctx, f, cl, cfg))
	}
	srv, err := store.Peek[*resource.Server](r.cfg.Objects, cl.Status.Server)
	if err != nil {
		srv = nil // not bound, or gone since
	}
	take := r.cfg.Revisions.TakeForClaim(cl, srv)
	conds := plan.Claimed(cl, srv, cfg, r.cfg.Env.IgnitionOf(cl.Spec.IgnitionSecretRef), f.HasAgent(cl.Status.Server))
	first := plan.FirstGoes
	var change plan.EnvThen
	if cfg != nil {
		change = plan.EnvChange(f, cl, cfg)
	}
	if change == plan.EnvWait || change == plan.EnvReplace {
		conds = slices.DeleteFunc(conds, func(s resource.ConditionState) bool { return s.Code == resource.CondReprovisionRequired })
	}
	if change == plan.EnvWait {
		conds = append(conds, plan.UnderWay(f, cfg))
	}
	switch {
	case cfg == nil:
		first = plan.FirstBoot(f, cl)
	case change == plan.EnvReplace:
	case cl.Spec.ImageFrom != nil && plan.GroupChange(f, cfg, take.Number(), take.Turn) == plan.GroupReplace:
	default:
		more, err := r.configured(ctx, f, cl, cfg)
		return append(conds, more...), err
	}
	if cl.Status.Server == "" {
		return conds, nil
	}
	if first == plan.FirstAsk {
		cond, err := r.undecided(ctx, f, cl)
		if cond != nil {
			conds = append(conds, *cond)
		}
		return conds, err
	}
	if srv == nil {
		return conds, err
	}
	if cond := r.cfg.Inventory.Carried(srv, cl.Spec.BootPolicy); cond != nil {
		r.imageRefused(ctx, cl, *cond)
		return append(conds, *cond), nil
	}
	img, cond := r.claimImage(f, cl, srv, take)
	if cond != nil {
		if cond.Code != resource.CondImageUnverified { // which is told of the entry
			r.imageRefused(ctx, cl, *cond)
		}
		return append(conds, *cond), nil
	}
	if img == nil {
		if cl.Spec.Image != "" {
			conds = append(conds, *images.LookingUp(cl.Spec.Image))
		}
		return conds, nil
	}
	data, cond := r.cfg.Revisions.ClaimData(cl, take)
	if cond != nil {
		return append(conds, *cond), nil
	}
	if first == plan.FirstWait {
		return conds, nil // NoAgent, Dark or BMCUnreachable say why
	}
	if cond := r.cfg.Approvals.InstallWaits(f, cl); cond != nil {
		return append(conds, *cond), nil
	}
	return conds, r.cfg.Grants.Make(ctx, r.cfg.Grants.ForClaim(cl, srv, data, take.Group(), take.Number(), cfg), srv, *img)
}

// configured goes on with a claim that has its configuration.
func (r *Room) configured(ctx context.Context, f plan.Fleet, cl *resource.Claim, cfg *resource.BootConfiguration) (conds []resource.ConditionState, err error) {
	r.cfg.Images.ForgetOf(cl.Metadata.UID) // the configuration has it
	if err := errors.Join(r.settled(ctx, cl), r.cfg.Grants.Renew(ctx, cfg)); err != nil {
		return nil, err
	}
	for _, seal := range []func(context.Context, plan.Fleet, *resource.BootConfiguration) (*resource.ConditionState, error){r.cfg.Env.SealIgnition, r.cfg.Env.SealFormer, r.cfg.Env.Seal} {
		cond, err := seal(ctx, f, cfg)
		if cond != nil {
			conds = append(conds, *cond)
		}
		if err != nil {
			return conds, err
		}
	}
	return conds, nil
}

// claimImage is what a claim boots, with the kernel arguments of server and claim, or what
// stands for its environment; both answers are nil while it is looked up.
func (r *Room) claimImage(f plan.Fleet, cl *resource.Claim, srv *resource.Server, take revisions.Taken) (*resource.Image, *resource.ConditionState) {
	if cl.Spec.ImageFrom != nil {
		return r.cfg.Revisions.TakenImage(take, srv, cl.Spec.BootPolicy, cl.Spec.KernelArgs)
	}
	if env := cl.Spec.BootEnv; env != nil {
		return r.cfg.Env.See(f, srv, env.Name, plan.EnvFor{
			Purpose: resource.PurposeClaim, Owner: cl.Metadata.Name, Ignition: cl.Spec.IgnitionSecretRef != nil,
			KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, cl.Spec.KernelArgs),
		}, cl.Metadata.UID)
	}
	img, cond := r.cfg.Images.Image(f.Of, images.Question{Asker: cl.Metadata.UID, Reference: cl.Spec.Image, Architecture: srv.Architecture(), Method: cl.Spec.BootPolicy.FirstBoot.Target()})
	if img == nil || cond != nil {
		return nil, cond
	}
	full, err := plan.WithArguments(*img, srv.Spec.KernelArgs, cl.Spec.KernelArgs)
	if err != nil {
		return nil, images.Unresolved(err)
	}
	return &full, nil
}

// letGo removes a claim whose server was proved Off, its configuration first: a
// claim of the same name can only come after both.
func (r *Room) letGo(ctx context.Context, f plan.Fleet, cl *resource.Claim, cfg *resource.BootConfiguration) error {
	if cl.Status.Server != "" {
		said := f.Reports[cl.Status.Server]
		if said == nil || !said.Released || said.OwnerUID != cl.Metadata.UID {
			return nil
		}
	}
	if cfg != nil {
		if err := r.cfg.Objects.Remove(ctx, cfg); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.claim.unconfigured")
	}
	r.cfg.Images.ForgetOf(cl.Metadata.UID)
	return r.cfg.Objects.Remove(ctx, cl)
}

// imageRefused files an event when a claim's image or boot environment is found to be no
// use, or for another reason than before. That a registry is away is told once, whatever
// it says each time.
func (r *Room) imageRefused(ctx context.Context, cl *resource.Claim, now resource.ConditionState) {
	event := resource.EventImageRefused
	if now.Code == resource.CondBootEnvInvalid {
		event = resource.EventBootEnv
	}
	for _, was := range r.conds.Of(cl.Metadata.Name) {
		if was.Code == now.Code && (was.Message == now.Message || now.Code == resource.CondRegistryUnavailable) {
			return
		}
	}
	r.cfg.Events.OwnOf(ctx, resource.TargetOf(cl), cl.Status.Server, event, "claim "+cl.Metadata.Name+": "+now.Message)
}
