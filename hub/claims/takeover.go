package claims

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// AdoptServer takes somebody's word on what becomes of a claimed server's system: it is
// kept, and booted from its disk; or the claim may go on to its first boot. The same
// again changes nothing. The codes are invalid, not_found, conflict, unavailable and
// timeout.
func (r *Room) AdoptServer(ctx context.Context, name string, q api.AdoptRequest, by string) (*resource.Claim, error) {
	const op = "adopt server"
	if err := q.Validate(); err != nil {
		return nil, err
	}
	q.Reason = strings.TrimSpace(q.Reason)
	known := false // that nothing is to be done is so in the store
	for try := 1; ; try++ {
		cl, nothing, err := r.takeOver(ctx, name, q, by)
		if err == nil && nothing && !known {
			if err = r.cfg.Objects.Current(ctx); err == nil {
				known = true
				continue
			}
			cl = nil
		}
		if protocol.CodeOf(err) != protocol.CodeConflict || !stale(err, op) || try == store.Tries {
			return cl, err
		}
	}
}

// stale says whether a conflict is another writer's, and none that op itself has found.
func stale(err error, op string) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && e.Op != op
}

// takeOver is one try. nothing says that what was asked for is so already.
func (r *Room) takeOver(ctx context.Context, name string, q api.AdoptRequest, by string) (cl *resource.Claim, nothing bool, err error) {
	const op = "adopt server"
	conflict := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, op, format, args...)
	}
	srv, err := store.Get[*resource.Server](r.cfg.Objects, name)
	if err != nil {
		return nil, false, err
	}
	shared := r.cfg.Claims.Of(name)
	switch {
	case shared == nil:
		return nil, false, conflict("server %q has no claim", name).
			WithHint("what runs on it is kept for a claim: apply one with spec.serverRef %s, then adopt the server", name)
	case shared.Metadata.DeletedAt != nil:
		return nil, false, conflict("claim %q of server %q is being deleted", shared.Metadata.Name, name).
			WithHint("the server is powered off for that; wait until the claim is gone")
	}
	cl = store.Copy(r.cfg.Objects, shared)
	cfg, err := store.Get[*resource.BootConfiguration](r.cfg.Objects, cl.Metadata.Name)
	if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
		return nil, false, err
	}
	if err != nil || cfg.Spec.Owner.UID != cl.Metadata.UID {
		cfg = nil
	}
	asked := plan.AskKeep
	if q.Reprovision {
		asked = plan.AskInstall
	}
	img := plan.AdoptedImage(cl, srv, q.Provisioned)
	word := resource.Adopted{ImageDigest: img.Digest, By: by, Reason: q.Reason, At: r.cfg.Clock().UTC()}
	switch plan.Take(asked, cl, cfg, img.Digest) {
	case plan.TakeNothing:
		return cl, true, nil
	case plan.TakeKeep:
		if err := r.keep(ctx, cl, srv, img, resource.BootConfigurationStatus{Adopted: &word}); err != nil {
			return nil, false, err
		}
	case plan.TakeMark:
		cfg.Status.Adopted = &word
		if err := r.cfg.Objects.Put(ctx, cfg); err != nil {
			return nil, false, err
		}
		r.cfg.Crash.At("hub.adopt.marked")
	case plan.TakeInstall:
		if d := cl.Status.Decision; d != nil && d.Install != nil && d.Install.By == by && d.Install.Reason == q.Reason {
			return cl, true, nil
		}
		return cl, false, r.allowInstall(ctx, cl, resource.Confirmation{By: by, Reason: q.Reason, At: word.At})
	case plan.RefuseImage:
		return nil, false, conflict("the configuration of claim %q is for image %s", cl.Metadata.Name, cfg.Spec.Image.Digest).
			WithHint("name that digest if it is what is installed; else delete the claim, and adopt the server under a new one")
	case plan.RefuseGrant:
		if d := cl.Status.Decision; d != nil && d.Install != nil {
			return cl, true, nil // it was decided, and is on its way
		}
		return nil, false, conflict("claim %q has its boot configuration already", cl.Metadata.Name).
			WithHint("to install the server anew, delete the claim and create it again")
	case plan.RefuseNetwork:
		return nil, false, conflict("claim %q boots from the network at each power-on, so that nothing on the disk is kept", cl.Metadata.Name).
			WithHint("let it boot with --reprovision, or give the claim bootPolicy.boot: Hdd")
	}
	r.Adopted(ctx, name, fmt.Sprintf("claim %s keeps %s by the word of %s: %s", cl.Metadata.Name, img.Digest, by, q.Reason))
	return cl, false, nil
}

// keep makes the configuration of a system that is installed. It has no grant.
func (r *Room) keep(ctx context.Context, cl *resource.Claim, srv *resource.Server, img resource.Image, status resource.BootConfigurationStatus) error {
	cfg := &resource.BootConfiguration{Status: status, Spec: resource.BootConfigurationSpec{
		Server:     srv.Metadata.Name,
		Owner:      resource.Owner{Kind: resource.PurposeClaim, Name: cl.Metadata.Name, UID: cl.Metadata.UID},
		BootSpec:   resource.BootSpec{Image: img, BootPolicy: cl.Spec.BootPolicy},
		BootEnv:    img.BootEnv(),
		Ignition:   r.cfg.Env.IgnitionOf(cl.Spec.IgnitionSecretRef),
		KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, cl.Spec.KernelArgs),
	}}
	now := r.cfg.Clock()
	cfg.Metadata = resource.Metadata{Name: cl.Metadata.Name, UID: r.cfg.NewID(), Generation: 1, CreatedAt: &now}
	if status.Provisioned != nil {
		cfg.Metadata.Generation = status.Provisioned.Generation
	}
	cfg.Default()
	if err := r.cfg.Objects.Put(ctx, cfg); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.adopt.kept")
	return nil
}

func (r *Room) allowInstall(ctx context.Context, cl *resource.Claim, word resource.Confirmation) error {
	if cl.Status.Decision == nil {
		cl.Status.Decision = &resource.Decision{Since: word.At, Why: resource.DecisionFoundOn}
	}
	cl.Status.Decision.Install = &word
	if err := r.cfg.Objects.Put(ctx, cl); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.adopt.install")
	r.Adopted(ctx, cl.Status.Server, fmt.Sprintf("claim %s may install over what there is, by the word of %s: %s", cl.Metadata.Name, word.By, word.Reason))
	return nil
}

// Adopted tells that a server was taken over, with somebody's word for it.
func (r *Room) Adopted(ctx context.Context, server, what string) {
	r.cfg.Logger.Warn("server taken over", "server", server, "detail", what)
	r.cfg.Events.Own(ctx, server, resource.EventAdopted, what)
	r.cfg.Wake.Server(server)
}

// undecided is what a claim shows that somebody has to decide about. That it has to be decided
// is stored first, so that nothing that happens to the server later answers it. A record
// of the rack's own agent answers it: a restored hub has lost the configuration.
func (r *Room) undecided(ctx context.Context, f plan.Fleet, cl *resource.Claim) (*resource.ConditionState, error) {
	if p, signed := r.ownRecord(f, cl); p != nil {
		srv, err := store.Peek[*resource.Server](r.cfg.Objects, cl.Status.Server)
		if err != nil {
			return nil, err
		}
		named := cl.Spec.Image
		if cl.Spec.BootEnv != nil {
			named = resource.EnvImagePrefix + cl.Spec.BootEnv.Name
		}
		img := plan.AdoptedImage(cl, srv, named+"@"+p.ImageDigest)
		if _, digest := resource.SplitImage(cl.Spec.Image); digest == p.ImageDigest {
			img.Reference = cl.Spec.Image
		}
		return nil, r.keep(ctx, cl, srv, img, resource.BootConfigurationStatus{Provisioned: p, SignedProvisioned: signed})
	}
	d := cl.Status.Decision
	if d == nil {
		own := store.Copy(r.cfg.Objects, cl)
		d = &resource.Decision{Since: r.cfg.Clock().UTC(), Why: resource.DecisionFoundOn}
		if said := f.Reports[cl.Status.Server]; said != nil && said.Unreleased != nil {
			d.Why = resource.DecisionOrphaned
		}
		own.Status.Decision = d
		if err := r.cfg.Objects.Put(ctx, own); err != nil {
			return nil, err
		}
		r.cfg.Crash.At("hub.adopt.asked")
	}
	why := "server " + cl.Status.Server + " was On when it was bound, and nothing here had booted it"
	switch d.Why {
	case resource.DecisionImported:
		why = "the claim was imported"
	case resource.DecisionOrphaned:
		why = "the agent of server " + cl.Status.Server + " has records of an owner that did not let it go"
	case resource.DecisionFoundOn:
	}
	if d.Message != "" {
		why += ": " + d.Message
	}
	return &resource.ConditionState{Code: resource.CondNeedsDecision, Message: why}, nil
}

// ownRecord is the record that the active agent of the server's rack reports for a claim.
func (r *Room) ownRecord(f plan.Fleet, cl *resource.Claim) (*resource.Provisioned, []byte) {
	said, a := f.Reports[cl.Status.Server], r.cfg.Objects.AgentOf(cl.Status.Server)
	if said == nil || a == nil || len(said.Provisioned) == 0 || cl.Spec.BootPolicy.Boot == resource.BootNetwork {
		return nil, nil
	}
	var p resource.Provisioned
	if wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactProvisioned, said.Provisioned, &p) != nil {
		return nil, nil
	}
	srv, err := store.Peek[*resource.Server](r.cfg.Objects, cl.Status.Server)
	if err != nil || p.OwnerUID != cl.Metadata.UID || p.Server != cl.Status.Server || p.ServerUID != srv.Metadata.UID {
		return nil, nil
	}
	return &p, said.Provisioned
}

// settled drops a question that a configuration has answered.
func (r *Room) settled(ctx context.Context, cl *resource.Claim) error {
	if !cl.Status.Decision.Open() {
		return nil
	}
	own := store.Copy(r.cfg.Objects, cl)
	own.Status.Decision = nil
	return r.cfg.Objects.Put(ctx, own)
}
