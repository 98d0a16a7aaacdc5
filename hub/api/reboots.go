package api

import (
	"context"
	"errors"
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// reboots does what reboot annotations of metal3 ask for that stand in the metadata of applied
// objects (seed 003). What stops a server is done before the objects are written, and what lets it go
// after: an apply that fails between leaves more held, never less, and the same again goes on.
type reboots struct {
	objects  *store.Objects
	holds    *store.Holds
	requests requests
}

// asked are the reboot annotations of one applied object.
type asked struct {
	kind   resource.Kind
	name   string
	server string
	fresh  bool // the server comes with this apply
	last   []resource.RebootSet
	now    map[string]string
	moves  []plan.RebootMove
	done   []protoapi.RebootResult
}

// take takes the annotations out of objects, and says what they come to. Nothing is
// written. asks has an entry for each object, nil where nothing was or is asked for.
func (r reboots) take(ctx context.Context, objs []resource.Object) (asks []*asked, err error) {
	const op = "apply"
	var bad store.ApplyErrors
	asks = make([]*asked, len(objs))
	w := route.NewWorld(r.objects, objs...)
	for i, obj := range objs {
		h := obj.Head()
		wrong := func(path, text string) {
			bad = append(bad, store.ApplyError{Index: i, Kind: h.Kind, Name: h.Metadata.Name, FieldErrors: protocol.FieldErrors{{Path: path, Message: text}}})
		}
		a := &asked{kind: h.Kind, name: h.Metadata.Name, now: resource.TakeReboots(obj)}
		if resource.Reboots(obj) == nil {
			for name := range a.now {
				wrong("metadata.annotations["+name+"]", "only a Server or a Claim is held or rebooted; annotate that")
			}
			continue
		}
		if old, err := r.objects.Get(h.Kind, h.Metadata.Name); err == nil {
			a.last, a.server = *resource.Reboots(old), serverOf(old)
		}
		if a.server == "" {
			a.server = serverOf(obj)
		}
		who := route.Caller(ctx)
		if len(a.now) == 0 && len(plan.RebootSets(who.Name, a.server, a.last, nil)) == len(a.last) {
			continue
		}
		if _, err := r.objects.RackOf(a.server); err != nil {
			a.fresh = true
		}
		for name, value := range a.now {
			at := "metadata.annotations[" + name + "]"
			if _, err := resource.ParseRebootAnnotation(name, value); err != nil {
				wrong(at, unread(err))
			} else if a.server == "" {
				wrong(at, "the claim has no server yet; hold one by its name: rackctl hold SERVER, or rackctl annotate server SERVER "+name+"=")
			}
		}
		if n := len(plan.RebootSets(who.Name, a.server, a.last, a.now)); n > resource.MaxReboots {
			wrong("metadata.annotations", "there would be too many reboot annotations, of all callers")
		}
		if len(bad) > 0 {
			continue
		}
		if a.moves, err = plan.Reboots(who.Name, a.server, a.last, a.now, heldBy(r.holds, who.Name)); err != nil {
			return nil, err
		}
		if err := r.may(who, w, a); err != nil {
			return nil, err
		}
		asks[i] = a
	}
	if len(bad) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", bad).WithHint("nothing was changed; correct the fields that are named")
	}
	for _, a := range asks {
		if a != nil {
			a.moves = slices.DeleteFunc(a.moves, func(m plan.RebootMove) bool { return m.Do == plan.RebootRelease && r.setElsewhere(asks, a, m) })
		}
	}
	return asks, nil
}

// setElsewhere says whether the caller sets an annotation on the server's other object too, on the
// Server or on its Claim: the hold is of both, and leaving it out of one releases nothing. What this apply
// says of the other counts before what is stored.
func (r reboots) setElsewhere(asks []*asked, a *asked, m plan.RebootMove) bool {
	others := []resource.Object{}
	if s, err := store.Peek[*resource.Server](r.objects, m.Server); err == nil {
		others = append(others, s)
	}
	if c := r.requests.store.Claims.Of(m.Server); c != nil {
		others = append(others, c)
	}
	for _, c := range store.Referring[*resource.Claim](r.objects, resource.KindServer, m.Server) { // also one that waits for it
		others = append(others, c)
	}
	for _, o := range asks {
		if o != a && o.sets(m) {
			return true
		}
	}
	for _, obj := range others {
		h := obj.Head()
		said := func(o *asked) bool { return o != nil && o.kind == h.Kind && o.name == h.Metadata.Name }
		if said(a) || slices.ContainsFunc(asks, said) {
			continue
		}
		for _, s := range *resource.Reboots(obj) {
			if s.By == m.By && s.Annotation == m.Annotation && s.Server == m.Server {
				return true
			}
		}
	}
	return false
}

// sets says whether an applied object sets the annotation of a step, on the same server.
func (a *asked) sets(m plan.RebootMove) bool {
	if a == nil || a.server != m.Server {
		return false
	}
	_, sets := a.now[m.Annotation]
	return sets
}

// serverOf is the server of a Server or Claim; empty if it has none yet.
func serverOf(obj resource.Object) string {
	switch o := obj.(type) {
	case *resource.Server:
		return o.Metadata.Name
	case *resource.Claim:
		if o.Status.Server == "" && o.Spec.ServerRef != nil {
			return o.Spec.ServerRef.Name
		}
		return o.Status.Server
	}
	return ""
}

// heldBy finds a hold of a caller that lies.
func heldBy(holds *store.Holds, owner string) func(server, key string) *resource.Hold {
	return func(server, key string) *resource.Hold {
		for _, h := range holds.On(server) {
			if h.Spec.Owner == owner && h.Spec.Key == key {
				return h
			}
		}
		return nil
	}
}

// may judges each move by the right that it needs, at its server.
func (r reboots) may(who access.Caller, w *route.World, a *asked) error {
	rights := map[plan.RebootDo]access.Operation{plan.RebootHold: access.Hold, plan.RebootAsk: access.Request, plan.RebootRelease: access.Release}
	for _, m := range a.moves {
		if v := access.May(who, rights[m.Do], access.Target{Places: []access.Labels{access.AtServer(w, m.Server)}}); v != access.Allowed {
			return route.Denied(who, rights[m.Do], v, "server "+m.Server)
		}
	}
	return nil
}

// apply writes objects, and does what their reboot annotations ask for.
func (r reboots) apply(ctx context.Context, sets *store.Sets, objs []resource.Object, opts store.ApplyOptions) (res []store.ApplyResult, asks []*asked, err error) {
	if asks, err = r.take(ctx, objs); err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(asks, func(a *asked) bool { return a != nil }) || opts.DryRun {
		res, err = sets.Apply(ctx, objs, opts)
		return res, asks, err
	}
	check := opts
	check.DryRun = true
	if _, err := sets.Apply(ctx, objs, check); err != nil {
		return nil, nil, err
	}
	if err := r.before(ctx, asks); err != nil {
		return nil, nil, err
	}
	if res, err = sets.Apply(ctx, objs, opts); err != nil {
		return nil, nil, err
	}
	if err := r.after(ctx, asks); err != nil {
		return nil, nil, err
	}
	for i, a := range asks {
		if a == nil {
			continue
		}
		if res[i].Object, err = r.objects.Get(a.kind, a.name); err != nil {
			return nil, nil, err
		}
	}
	return res, asks, nil
}

// before places holds on servers that there are; before the objects are written.
func (r reboots) before(ctx context.Context, asks []*asked) error {
	for _, a := range asks {
		if a == nil || a.fresh {
			continue
		}
		if err := r.do(ctx, a, plan.RebootHold); err != nil {
			return err
		}
	}
	return nil
}

// after does all else, and remembers what was set.
func (r reboots) after(ctx context.Context, asks []*asked) error {
	for _, a := range asks {
		if a == nil {
			continue
		}
		if a.fresh {
			if err := r.do(ctx, a, plan.RebootHold); err != nil {
				return err
			}
		}
		if err := r.do(ctx, a, plan.RebootRelease); err != nil {
			return err
		}
		if err := r.do(ctx, a, plan.RebootAsk); err != nil {
			return err
		}
		who := route.Caller(ctx).Name
		err := r.objects.Change(ctx, a.kind, a.name, func(obj resource.Object) bool {
			sets := resource.Reboots(obj)
			next := plan.RebootSets(who, a.server, *sets, a.now)
			changed := !slices.Equal(*sets, next)
			*sets = next
			return changed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// do takes the steps of one sort.
func (r reboots) do(ctx context.Context, a *asked, do plan.RebootDo) error {
	for _, m := range a.moves {
		if m.Do != do {
			continue
		}
		out := protoapi.RebootResult{Annotation: m.Annotation, Server: m.Server, Outcome: outcomes[do]}
		switch do {
		case plan.RebootHold:
			h, err := r.holds.Create(ctx, &resource.Hold{Spec: holdOf(m)})
			if err != nil {
				return err
			}
			out.Hold = h.Metadata.Name
		case plan.RebootRelease:
			if _, err := r.holds.Release(ctx, m.Hold.Metadata.Name, m.By, ""); err != nil {
				return err
			}
			out.Hold = m.Hold.Metadata.Name
		case plan.RebootAsk:
			q, err := r.requests.accept(ctx, m.Server, protoapi.RebootRequest{Mode: m.Mode, AnyPhase: m.Force, Ref: ref(m)})
			if err != nil {
				return err
			}
			out.Request = q.ID
		}
		a.done = append(a.done, out)
	}
	return nil
}

// holdOf is the hold that a step asks for. One that lies becomes hard, and is the same in all else.
func holdOf(m plan.RebootMove) resource.HoldSpec {
	if m.Hold != nil {
		spec := m.Hold.Spec
		spec.Mode = m.Mode
		return spec
	}
	return resource.HoldSpec{Server: m.Server, Owner: m.By, HoldTerms: resource.HoldTerms{Key: m.Key, Mode: m.Mode, Ref: m.Value}}
}

// ref makes the same again, while it has not ended, the same request.
func ref(m plan.RebootMove) string {
	if m.Value == "" {
		return m.Annotation
	}
	return m.Value
}

// unread is why an annotation cannot be read, without what the request was.
func unread(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// results says in an answer what the annotations of each object came to. A dry run says what they
// would.
func results(asks []*asked, out []protoapi.ApplyResult) {
	for i, a := range asks {
		if a == nil {
			continue
		}
		out[i].Reboots = a.done
		if len(a.done) == 0 {
			for _, m := range a.moves {
				out[i].Reboots = append(out[i].Reboots, protoapi.RebootResult{Annotation: m.Annotation, Server: m.Server, Outcome: outcomes[m.Do]})
			}
		}
	}
}

// outcomes are what a step came to, as the answer says it.
var outcomes = map[plan.RebootDo]string{plan.RebootHold: "held", plan.RebootRelease: "released", plan.RebootAsk: "asked"}
