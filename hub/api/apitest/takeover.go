package apitest

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// AdoptServer implements Fleet: the word is kept with the claim's configuration, which
// has nothing else.
func (f *CannedFleet) AdoptServer(ctx context.Context, server string, r protoapi.AdoptRequest, by string) (*resource.Claim, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	cl := f.Store.Claims.Of(server)
	if cl == nil {
		return nil, protocol.Errorf(protocol.CodeConflict, "adopt server", "server %q has no claim", server).WithHint("apply a claim")
	}
	cl = store.Copy(f.Store.Objects, cl)
	word := resource.Confirmation{By: by, Reason: r.Reason, At: Now()}
	if r.Reprovision {
		cl.Status.Decision = &resource.Decision{Since: Now(), Why: resource.DecisionFoundOn, Install: &word}
		return cl, f.Store.Objects.Put(ctx, cl)
	}
	reference, digest := resource.SplitImage(r.Provisioned)
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:   server,
		Owner:    resource.Owner{Name: cl.Metadata.Name, UID: cl.Metadata.UID},
		BootSpec: resource.BootSpec{Image: resource.Image{Reference: reference, Digest: digest}},
	}}
	cfg.Metadata.Name = cl.Metadata.Name
	cfg.Status.Adopted = &resource.Adopted{ImageDigest: digest, By: by, Reason: r.Reason, At: Now()}
	return cl, f.Store.Objects.Put(ctx, cfg)
}

// Import implements Fleet: objects are stored without a look at what they prove.
func (f *CannedFleet) Import(ctx context.Context, objs []resource.Object, r protoapi.ImportRequest, by string) (out protoapi.ImportAnswer, err error) {
	results, err := f.Store.Sets.Import(ctx, objs, store.ImportOptions{DryRun: r.DryRun, By: by})
	if err != nil {
		return out, err
	}
	for i, res := range results {
		line := protoapi.ImportResult{Kind: objs[i].Head().Kind, Name: objs[i].Head().Metadata.Name, Outcome: protoapi.ImportCreated}
		switch {
		case protocol.CodeOf(res.Err) == protocol.CodeConflict:
			line.Outcome, line.Message = protoapi.ImportConflict, res.Err.Error()
		case res.Err != nil:
			line.Outcome, line.Message = protoapi.ImportRefused, res.Err.Error()
		case res.Outcome == store.Unchanged:
			line.Outcome = protoapi.ImportUnchanged
		}
		out.Results = append(out.Results, line)
	}
	return out, nil
}
