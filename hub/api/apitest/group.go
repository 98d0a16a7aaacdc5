package apitest

import (
	"context"

	"rackboot/hub/plan/bootimages"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ActOnGroup implements Fleet: the word is kept with the group; a return makes no revision.
func (f *CannedFleet) ActOnGroup(ctx context.Context, name string, action protoapi.GroupAction, r protoapi.GroupRequest, by string) (out protoapi.GroupAnswer, err error) {
	if err := r.Check(action); err != nil {
		return out, err
	}
	g, err := store.Get[*resource.ServerGroup](f.Store.Objects, name)
	if err != nil {
		return out, err
	}
	word := resource.Confirmation{By: by, Reason: r.Reason, At: Now()}
	out.Group = g
	switch action {
	case protoapi.GroupAdopt:
		if g.Spec.Image == "" {
			return out, protocol.Errorf(protocol.CodeConflict, "adopt group", "group %q has no image of its owner's own", name).WithHint("rackctl get servergroup %s -o yaml shows why it is passed over", name)
		}
		g.Status.Adopted = &resource.GroupAdoption{Confirmation: word, Image: g.Spec.Image}
	case protoapi.GroupAck:
		out.Unchanged = g.Status.HotLoop == nil || !g.Status.HotLoop.Held
		g.Status.HotLoop = nil
	case protoapi.GroupPin:
		if out.Unchanged = g.Status.Pinned != nil; out.Unchanged {
			return out, nil
		}
		g.Status.Pinned = &resource.GroupPin{Confirmation: word, Revision: g.Status.Revision}
	case protoapi.GroupUnpin:
		out.Unchanged = g.Status.Pinned == nil && (!r.Forgive || len(g.Status.Rejected) == 0)
		g.Status.Pinned = nil
	case protoapi.GroupRevert:
		to := r.Revision
		if to == 0 {
			to = g.Status.Verified
		}
		if to == g.Status.Revision {
			return out, protocol.Errorf(protocol.CodeConflict, "revert group", "revision %d of group %q is the current one", to, name).WithHint("rackctl group pin %s keeps it", name)
		}
		diff, err := f.DiffGroup(name, g.Status.Revision, to)
		if err != nil {
			return out, err
		}
		out.Revision, out.CopyOf, out.Changes = g.Status.Revision+1, to, diff.Changes
		return out, nil
	}
	if out.Unchanged {
		return out, nil
	}
	return out, f.Store.Objects.Put(ctx, g)
}

// CommandUpgrade implements Fleet: as the hub does it.
func (f *CannedFleet) CommandUpgrade(ctx context.Context, name string, r protoapi.RolloutRequest, by string) (*resource.AgentUpgrade, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	u, err := store.Get[*resource.AgentUpgrade](f.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	if u.Status.Rollout == nil {
		return nil, protocol.Errorf(protocol.CodeConflict, "rollout "+string(r.Command), "agent upgrade %q has no roll-out yet", name)
	}
	st, err := rollout.Do(Now(), *u.Status.Rollout, rollout.Command(r.Command), by, r.Reason)
	if err != nil {
		return nil, err
	}
	u.Status.Rollout = &st
	return u, f.Store.Objects.Put(ctx, u)
}

// CommandRollout implements Fleet: as the hub does it.
func (f *CannedFleet) CommandRollout(ctx context.Context, name string, r protoapi.RolloutRequest, by string) (out protoapi.GroupAnswer, err error) {
	if err := r.Check(); err != nil {
		return out, err
	}
	g, err := store.Get[*resource.ServerGroup](f.Store.Objects, name)
	if err != nil {
		return out, err
	}
	if g.Status.Rollout == nil {
		return out, protocol.Errorf(protocol.CodeConflict, "rollout "+string(r.Command), "group %q has no roll-out", name)
	}
	st, err := rollout.Do(Now(), *g.Status.Rollout, rollout.Command(r.Command), by, r.Reason)
	if err != nil {
		return out, err
	}
	g.Status.Rollout = &st
	return protoapi.GroupAnswer{Group: g}, f.Store.Objects.Put(ctx, g)
}

// DiffGroup implements Fleet.
func (f *CannedFleet) DiffGroup(name string, from, to int) (protoapi.GroupDiff, error) {
	g, err := store.Peek[*resource.ServerGroup](f.Store.Objects, name)
	if err != nil {
		return protoapi.GroupDiff{}, err
	}
	var history []*resource.GroupRevision
	for _, r := range store.List[*resource.GroupRevision](f.Store.Objects) {
		if r.Spec.Group == name {
			history = append(history, r)
		}
	}
	a, b, err := bootimages.Between(g, history, from, to)
	if err != nil {
		return protoapi.GroupDiff{}, err
	}
	out := protoapi.GroupDiff{Group: name, From: a.Spec.Number, To: b.Spec.Number}
	for _, d := range bootimages.Diff(a, b) {
		out.Changes = append(out.Changes, protoapi.GroupChange{Field: d.Field, From: d.From, To: d.To})
	}
	return out, nil
}

// Doctor implements Fleet: the groups that are pinned, and an agent.
func (f *CannedFleet) Doctor() protoapi.DoctorAnswer {
	out := protoapi.DoctorAnswer{Version: "test", Findings: []protoapi.DoctorFinding{}}
	for _, g := range store.List[*resource.ServerGroup](f.Store.Objects) {
		if g.Status.Pinned != nil {
			out.Findings = append(out.Findings, protoapi.DoctorFinding{Code: resource.CondImagesDegraded, Target: "ServerGroup/" + g.Metadata.Name, Message: "it is pinned", Blocks: true})
		}
	}
	return out
}
