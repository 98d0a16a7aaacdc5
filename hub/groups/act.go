package groups

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/images"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ActOnGroup does what somebody wants of a group. Doing the same again changes nothing,
// but for a return, which is a line of the history each time. The codes are invalid,
// not_found, conflict, unavailable and timeout.
func (c *Room) ActOnGroup(ctx context.Context, name string, action api.GroupAction, r api.GroupRequest, by string) (api.GroupAnswer, error) {
	if err := r.Check(action); err != nil {
		return api.GroupAnswer{}, err
	}
	known := false // that nothing is to be done is so in the store
	for try := 1; ; try++ {
		out, err := c.actOnGroup(ctx, name, action, r, by)
		if err == nil && out.Unchanged && !known {
			if err = c.cfg.Objects.Current(ctx); err == nil {
				known = true
				continue
			}
		}
		if protocol.CodeOf(err) == protocol.CodeConflict && !isRefusal(err) && try < store.Tries {
			continue // another writer was first
		}
		if err != nil {
			return api.GroupAnswer{}, err
		}
		c.cfg.Wake.Site()
		return out, nil
	}
}

// refusal is a conflict with what is asked for, which trying again does not end.
type refusal struct{ err *protocol.Error }

func (r refusal) Error() string { return r.err.Error() }

// Unwrap gives the code and the hint.
func (r refusal) Unwrap() error { return r.err }

func isRefusal(err error) bool {
	_, is := errors.AsType[refusal](err)
	return is
}

func (c *Room) actOnGroup(ctx context.Context, name string, action api.GroupAction, r api.GroupRequest, by string) (api.GroupAnswer, error) {
	op := string(action) + " group"
	g, err := store.Get[*resource.ServerGroup](c.cfg.Objects, name)
	if err != nil {
		return api.GroupAnswer{}, err
	}
	refuse := func(hint, format string, args ...any) (api.GroupAnswer, error) {
		return api.GroupAnswer{}, refusal{protocol.Errorf(protocol.CodeConflict, op, format, args...).WithHint("%s", hint)}
	}
	word := resource.Confirmation{By: by, Reason: r.Reason, At: c.cfg.Clock().UTC()}
	said := ""
	switch action {
	case api.GroupRevert:
		return c.revert(ctx, g, r, by)
	case api.GroupAdopt:
		if g.Spec.Image == "" {
			return refuse("rackctl get servergroup "+name+" -o yaml shows why it is passed over", "group %q has no image of its owner's own", name)
		}
		if a := g.Status.Adopted; a == nil || a.Image != g.Spec.Image {
			g.Status.Adopted, said = &resource.GroupAdoption{Confirmation: word, Image: g.Spec.Image}, "adopted by"
		}
	case api.GroupAck:
		if g.Status.HotLoop != nil && g.Status.HotLoop.Held {
			g.Status.HotLoop, said = nil, "acknowledged by"
		}
	case api.GroupPin:
		switch {
		case g.Status.Revision == 0:
			return refuse("wait for its first", "group %q has no revision yet", name)
		case r.Revision != 0 && r.Revision != g.Status.Revision:
			return refuse(fmt.Sprintf("rackctl group revert %s %d returns to it, and pins it", name, r.Revision), "the current revision of group %q is %d", name, g.Status.Revision)
		}
		if g.Status.Pinned == nil {
			g.Status.Pinned, said = &resource.GroupPin{Confirmation: word, Revision: g.Status.Revision}, "pinned by"
		}
	case api.GroupUnpin:
		if g.Status.Pinned != nil || r.Forgive && len(g.Status.Rejected) > 0 {
			g.Status.Pinned, said = nil, "unpinned by"
			if r.Forgive {
				g.Status.Rejected = nil
			}
		}
	}
	if said == "" {
		return api.GroupAnswer{Group: g, Unchanged: true}, nil
	}
	if err := c.cfg.Objects.Put(ctx, g); err != nil {
		return api.GroupAnswer{}, err
	}
	c.cfg.Crash.At("hub.group.said")
	c.cfg.Revisions.Event(ctx, g, "is %s %s%s", said, by, events.Because(r.Reason))
	return api.GroupAnswer{Group: g}, nil
}

// revert makes the next revision a copy of an older one. Image and user data return
// together.
func (c *Room) revert(ctx context.Context, g *resource.ServerGroup, r api.GroupRequest, by string) (api.GroupAnswer, error) {
	const op = "revert group"
	name := g.Metadata.Name
	history := c.cfg.Revisions.HistoryOf(g)
	p := &revisions.Pass{Now: c.cfg.Clock().UTC(), History: map[string][]*resource.GroupRevision{g.Metadata.UID: history}, Versions: map[string]string{}}
	current := p.Revision(g, g.Status.Revision)
	to, skipped := bootimages.Older(history, g, r.Revision)
	switch {
	case current != nil && to == nil && len(skipped) > 0:
		return api.GroupAnswer{}, refusal{protocol.Errorf(protocol.CodeConflict, op, "group %q rejects the entries of all that it could return to: %s", name, numbers(skipped)).
			WithHint("rackctl group revert %s %d returns to that one all the same; rackctl group history %s lists them", name, skipped[len(skipped)-1], name)}
	case current == nil || to == nil:
		return api.GroupAnswer{}, refusal{protocol.Errorf(protocol.CodeConflict, op, "group %q has no revision to return to", name).WithHint("rackctl group history %s lists them; rackctl group pin %s keeps the current one", name, name)}
	case to == current:
		return api.GroupAnswer{}, refusal{protocol.Errorf(protocol.CodeConflict, op, "revision %d of group %q is the current one", r.Revision, name).WithHint("rackctl group pin %s keeps it", name)}
	}
	if err := c.bootableStill(ctx, to); err != nil {
		return api.GroupAnswer{}, err
	}
	var entry *resource.BootImage
	if b, err := store.Peek[*resource.BootImage](c.cfg.Objects, to.Spec.BootImage); err == nil && b.Digest() == to.Spec.BootImageDigest {
		entry = b
	}
	spec := bootimages.Rollback(bootimages.Next{
		Group: g, Current: current, History: history, Stamp: c.cfg.Revisions.StampOf(entry), By: by, Reason: r.Reason, At: p.Now,
	}, to, resource.CauseRollback)
	out := api.GroupAnswer{Group: g, Revision: spec.Number, CopyOf: to.Spec.Number, Skipped: skipped, Changes: changes(current, to)}
	if r.DryRun {
		return out, nil
	}
	next, err := c.cfg.Revisions.Create(ctx, spec, to.Status.Verified)
	if err != nil {
		return out, err
	}
	p.History[g.Metadata.UID] = append(history, next)
	if out.Group, err = c.cfg.Revisions.Finish(ctx, p, g); protocol.CodeOf(err) == protocol.CodeConflict {
		return out, nil // the next pass finishes it
	}
	return out, err
}

// revertLook bounds the questions to a registry before a return.
const revertLook = 10 * time.Second

// bootableStill says why an older revision cannot be booted any more: its user data, or an
// image that a registry says it has not. That a registry does not answer says nothing, and
// agents may have the files.
func (c *Room) bootableStill(ctx context.Context, r *resource.GroupRevision) error {
	const op = "revert group"
	if r.Spec.Stub != nil {
		if _, err := c.cfg.Env.OpenIgnition(*r.Spec.Stub); err != nil {
			return refusal{protocol.Errorf(protocol.CodeConflict, op, "the user data of revision %d is gone: %w", r.Spec.Number, err).WithHint("return to another revision")}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, revertLook)
	defer cancel()
	for arch, img := range r.Spec.Images {
		if img.Source == resource.ImageFromHub {
			continue // its files are kept: see [store.BootImages.Files]
		}
		_, err := c.cfg.Images.Resolve(ctx, img.Reference, arch) // which ends with its digest
		if err != nil && images.Refused(images.Unresolved(err).Code) {
			return refusal{protocol.Errorf(protocol.CodeConflict, op, "the image of revision %d for %s is gone: %w", r.Spec.Number, arch, err).WithHint("push it again, or return to another revision")}
		}
	}
	return nil
}

// numbers are revisions by their numbers, for people.
func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	if len(words) == 1 {
		return "revision " + words[0]
	}
	return "revisions " + strings.Join(words, ", ")
}

func changes(a, b *resource.GroupRevision) (out []api.GroupChange) {
	for _, d := range bootimages.Diff(a, b) {
		out = append(out, api.GroupChange{Field: d.Field, From: d.From, To: d.To})
	}
	return out
}

// DiffGroup is how two revisions of a group differ: see [bootimages.Between]. The codes are not_found and conflict.
func (c *Room) DiffGroup(name string, from, to int) (api.GroupDiff, error) {
	g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, name)
	if err != nil {
		return api.GroupDiff{}, err
	}
	a, b, err := bootimages.Between(g, c.cfg.Revisions.HistoryOf(g), from, to)
	if err != nil {
		return api.GroupDiff{}, err
	}
	return api.GroupDiff{Group: name, From: a.Spec.Number, To: b.Spec.Number, Changes: changes(a, b)}, nil
}
