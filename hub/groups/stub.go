package groups

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// stubPage is what was found of a group's user data with some inputs, without the data.
type stubPage struct {
	inputs string
	seen   bootimages.StubSeen
	cas    ignition.Stub // what there is of certificate authorities
	// translated says that the hub's own Secret is to have it; written that it has.
	translated, written bool
}

// stubInputs is everything that decides what becomes of user data.
func stubInputs(ref *resource.IgnitionRef, spec *resource.StubSpec, limit string) string {
	return strings.Join([]string{ref.UID, ref.Digest, limit, fmt.Sprint(spec.Manage, spec.AcceptLoss), spec.ReplaceCA, spec.ServerCA}, "\x00")
}

// groupStub judges a group's user data for an image that reads specifications up to
// limit.
// With spec.stub.manage it is opened to be translated, which is noted in the audit log;
// without, only what any claim's user data is checked for is looked at: no more than that
// was consented to. entry is nil for an image of the owner's own.
func (c *Room) groupStub(ctx context.Context, g *resource.ServerGroup, entry *resource.BootImage, limit string) bootimages.StubSeen {
	spec := g.Spec.Stub
	if spec == nil {
		return bootimages.StubSeen{}
	}
	ref := c.cfg.Env.IgnitionOf(&spec.SecretRef)
	if ref == nil {
		return bootimages.StubSeen{Named: true, State: bootimages.SeenInvalid, Message: "Secret " + spec.SecretRef.Name + " does not exist"}
	}
	if why := bootimages.Unlimited(g, entry); why != "" {
		return bootimages.StubSeen{Named: true, State: bootimages.SeenReady, Original: ref, Stub: ref, TooNew: why}
	}
	inputs := stubInputs(ref, spec, limit)
	if page, ok := c.groups.stubs[g.Metadata.UID]; ok && page.inputs == inputs {
		return c.stubToday(page, g)
	}
	page, _, err := c.readStub(ctx, g, ref, limit)
	if err != nil {
		state := bootimages.SeenInvalid
		switch protocol.CodeOf(err) {
		case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
			state = bootimages.SeenFailing
		default:
		}
		return bootimages.StubSeen{Named: true, State: state, Message: conditions.Text(err)} // and it is read again
	}
	page.inputs = inputs
	c.groups.stubs[g.Metadata.UID] = page
	return c.stubToday(page, g)
}

// stubCAWithin is how long before its end a certificate authority of user data is told of.
const stubCAWithin = 30 * 24 * time.Hour

// stubToday is what was found, with what its certificate authorities are now.
func (c *Room) stubToday(page stubPage, g *resource.ServerGroup) bootimages.StubSeen {
	out := page.seen
	if !g.Spec.Stub.Manage || out.Refused != "" {
		return out
	}
	for _, f := range ignition.CheckCA(page.cas, c.cfg.Clock(), stubCAWithin, g.Spec.Stub.ServerCA) {
		code, where := resource.CondStubCAExpiring, fmt.Sprintf("%s at %s, %s, ", f.Subject, f.Path, f.NotAfter.UTC().Format(time.DateOnly))
		if f.Kind == ignition.CAMismatch {
			code, where = resource.CondStubCAMismatch, ""
		}
		out.CA = append(out.CA, resource.ConditionState{Code: code, Message: where + f.Message})
	}
	return out
}

// readStub opens a group's user data and judges it. translated is nil where it stays as it
// is.
func (c *Room) readStub(ctx context.Context, g *resource.ServerGroup, ref *resource.IgnitionRef, limit string) (page stubPage, translated []byte, err error) {
	spec := g.Spec.Stub
	page.seen = bootimages.StubSeen{Named: true, State: bootimages.SeenReady, Original: ref, Stub: ref}
	if !spec.Manage {
		content, err := c.cfg.Env.OpenIgnition(*ref)
		if err != nil {
			return page, nil, err
		}
		head, errs := ignition.Check(content)
		if len(errs) > 0 {
			return page, nil, protocol.Errorf(protocol.CodeInvalid, "read user data", "Secret %s: %w", ref.Secret, errs)
		}
		page.seen.Version = head.Version
		if limit != "" {
			page.seen.TooNew = unreadable(g.Metadata.Name, head.Version, limit)
		}
		return page, nil, nil
	}
	raw, err := c.cfg.Env.RawIgnition(*ref)
	if err != nil {
		return page, nil, err
	}
	if err := c.cfg.Events.Record(ctx, protocol.AuditEntry{Op: "open", Caller: events.HubName, Target: events.Target(resource.KindSecret, ref.Secret), Detail: fmt.Sprintf("version %d, to translate it for group %s", ref.Version, g.Metadata.Name)}); err != nil {
		return page, nil, err
	}
	t, err := ignition.Translate(raw, ignition.TranslateOptions{Max: limit, AcceptLoss: spec.AcceptLoss, ReplaceCA: spec.ReplaceCA})
	if err == nil {
		page.cas, err = ignition.Inspect(t.Config)
	}
	if err != nil {
		page.seen.Refused = conditions.Text(err)
		return page, nil, nil //nolint:nilerr // it is what was found
	}
	page.seen.Version = t.To
	if t.Changed {
		page.seen.Stub, page.translated = nil, true // until it is written
		return page, t.Config, nil
	}
	return page, nil, nil
}

// unreadable says that an image does not read user data of a specification; empty if it
// does.
func unreadable(group, version, limit string) string {
	major, _, _ := strings.Cut(version, ".")
	if old := strings.HasPrefix(limit, "2."); (major == "1" || major == "2") && !old {
		return fmt.Sprintf("it is of specification %s, and the image reads 3: say spec.stub.manage: true to have it translated, or translate it with rackctl ignition translate --for-group %s", version, group)
	}
	have, err := resource.ParseImageVersion(version)
	bound, errMax := resource.ParseImageVersion(limit)
	if err != nil || errMax != nil || have.Compare(bound) > 0 {
		return fmt.Sprintf("it is of specification %s, and the image reads up to %s: rackctl ignition translate --for-group %s says whether it can be had lower", version, limit, group)
	}
	return ""
}

// writeStub writes what was translated into the hub's own Secret, and answers with what a
// revision names. Everything else was found good by then. Writing the same again changes
// nothing.
func (c *Room) writeStub(ctx context.Context, g *resource.ServerGroup, seen bootimages.StubSeen, limit string) (bootimages.StubSeen, error) {
	page, ok := c.groups.stubs[g.Metadata.UID]
	if !ok || !page.translated || page.written {
		return seen, nil
	}
	again, config, err := c.readStub(ctx, g, seen.Original, limit)
	if err != nil || config == nil {
		delete(c.groups.stubs, g.Metadata.UID)
		return seen, cmp.Or(err, error(protocol.Errorf(protocol.CodeConflict, "translate user data", "Secret %s was changed just now", seen.Original.Secret)))
	}
	name := seen.Original.Secret + resource.ManagedStubSuffix
	secret := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{resource.SecretUserData: resource.Plain(config)}}}
	secret.Metadata = resource.Metadata{Name: name, Annotations: map[string]string{store.AnnotationManagedStub: seen.Original.Secret}}
	res, err := c.cfg.Sets.Apply(ctx, []resource.Object{secret}, store.ApplyOptions{By: events.HubName, Managed: true})
	if err != nil {
		return seen, err
	}
	c.cfg.Crash.At("hub.group.stub")
	again.seen.Stub, again.inputs, again.written = env.RefOf(res[0].Object.(*resource.Secret)), page.inputs, true
	if res[0].Outcome != store.Unchanged {
		c.cfg.Revisions.Event(ctx, g, "has its user data translated to specification %s, in Secret %s", again.seen.Version, name)
	}
	c.groups.stubs[g.Metadata.UID] = again
	return c.stubToday(again, g), nil
}
