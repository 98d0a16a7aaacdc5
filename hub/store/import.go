package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxUID bounds an imported UID in bytes; those that hubs make are ULIDs.
const maxUID = 64

// ImportOptions say how to import and for whom.
type ImportOptions struct {
	DryRun bool   // check everything, write nothing
	By     string // the authenticated caller
}

// Imported is what became of one object: it is as it was exported with Created and
// Unchanged, and not stored with an error, whose code is invalid or conflict.
type Imported struct {
	Outcome Outcome
	Err     error
}

// ImportKinds are the kinds that can be imported, in the order in which they are
// written: what is named before what names it, and a hold before anything that starts its
// server.
func ImportKinds() []resource.Kind {
	return []resource.Kind{
		resource.KindParam, resource.KindTemplate, resource.KindProfile, resource.KindBootEnv, resource.KindFirmwareProfile,
		resource.KindBootImage, resource.KindServerGroup, resource.KindGroupRevision, resource.KindManagedBootImages,
		resource.KindRack, resource.KindSegment, resource.KindBMC, resource.KindServer, resource.KindHold, resource.KindFreeze, resource.KindAgentUpgrade,
		resource.KindBootConfiguration, resource.KindClaim, resource.KindMaintenance,
	}
}

// Import stores resources of another hub with the UIDs that they have there, those that are
// taken at once, as far as the bounds of a commit go, and else in parts, in the order of [ImportKinds];
// what the caller left of their status is kept. One that is there already, of
// the same UID and spec, is unchanged; anything else of its name is a conflict. One that
// refers to a resource which is neither stored nor imported is invalid. The results are
// in input order.
//
// It can be repeated: what a crash left out is written then. The error is unavailable, timeout, or a
// conflict after other writers won [writeTries] times, and says that the rest was not written.
func (st *Sets) Import(ctx context.Context, objs []resource.Object, opts ImportOptions) ([]Imported, error) {
	const op = "import"
	out := make([]Imported, len(objs))
	if opts.DryRun {
		st.judgeImport(objs, out)
		return out, nil
	}
	done := map[int]uint64{} // what was written, at which revision
	for try, written := 1, 0; ; try++ {
		err := st.objects.sets.pass(ctx, op, try > 1 || hasParams(objs), func() error {
			return st.importOnce(ctx, objs, out, done, try > 1, opts.By)
		})
		for i, revision := range done {
			out[i] = Imported{Outcome: Created}
			objs[i].Head().Metadata.Revision = revision
		}
		if len(done) > written { // a part was written: it goes on
			try, written = 1, len(done)
		}
		if err == nil || !st.core.again(ctx, err, try) {
			return out, err
		}
		clear(out)
	}
}

// importOnce is one try: what it wrote is in done.
func (st *Sets) importOnce(ctx context.Context, objs []resource.Object, out []Imported, done map[int]uint64, again bool, by string) error {
	const op = "import"
	items, at, closed := st.judgeImport(objs, out)
	for _, key := range closed {
		if _, _, err := st.core.opened(ctx, key); err != nil {
			return stateError(op, err)
		}
	}
	if len(closed) > 0 { // somebody has judged, and may have deleted it
		clear(out)
		items, at, _ = st.judgeImport(objs, out)
	}
	parts := 0
	b := batch{objects: st.objects, items: items, kinds: ImportKinds(), again: again, begun: func() {
		if parts++; parts > 1 {
			st.core.crash.At("hub.import.part")
		}
	}, written: func(n int) {
		h := items[n].next.Head()
		done[at[n]] = h.Metadata.Revision
		st.core.logger.Info("resource imported", "kind", h.Kind, "name", h.Metadata.Name, "by", by)
	}}
	if err := b.write(ctx); err != nil {
		return err
	}
	st.core.crash.At("hub.import.written")
	return nil
}

// judgeImport judges all objects, and returns those that are written, with their places among objs, and
// what of that which they rest on is closed.
func (st *Sets) judgeImport(objs []resource.Object, out []Imported) (items []applyItem, at []int, closed []string) {
	st.judgeEach(objs, out)
	items, at, closed = st.judgeSet(objs, out)
	more := map[string]int{} // size of the set's holds, by rack
	n := 0
	for k, it := range items {
		if h, ok := it.next.(*resource.Hold); ok {
			if err := st.holds.roomFor("import", h, more[h.Status.Rack]); err != nil {
				out[at[k]].Err = err
				continue
			}
			more[h.Status.Rack] += holdSize(h)
		}
		items[n], at[n] = it, at[k]
		n++
	}
	return items[:n], at[:n], closed
}

// judgeEach judges each object by itself and against what has its name.
func (st *Sets) judgeEach(objs []resource.Object, out []Imported) {
	seen := map[string]bool{}
	uids := map[string]string{} // kind and UID -> name
	for _, kind := range ImportKinds() {
		for _, e := range st.core.mirror.list(bucketOf(kind)) {
			if e.obj != nil {
				uids[string(kind)+"/"+e.obj.Head().Metadata.UID] = e.obj.Head().Metadata.Name
			}
		}
	}
	for i, obj := range objs {
		obj.Default()
		h := obj.Head()
		h.Metadata.Revision = 0
		wrong := obj.Validate()
		fail := func(path, format string, args ...any) {
			wrong = append(wrong, protocol.FieldError{Path: path, Message: fmt.Sprintf(format, args...)})
		}
		if !slices.Contains(ImportKinds(), h.Kind) {
			fail("kind", "%s cannot be imported", h.Kind)
		}
		if uid := h.Metadata.UID; !validToken(uid) || len(uid) > maxUID || h.Metadata.Generation == 0 || h.Metadata.CreatedAt == nil {
			fail("metadata", "is not that of an exported resource: uid, generation or createdAt is missing or wrong")
		}
		if h.Metadata.DeletedAt != nil {
			fail("metadata.deletedAt", "it is being deleted at the other hub; let that end there")
		}
		key := keyOf(h.Kind, h.Metadata.Name)
		if seen[key] {
			fail("metadata.name", "is twice in what is imported")
		}
		seen[key] = true
		if len(wrong) > 0 {
			out[i].Err = protocol.Errorf(protocol.CodeInvalid, "import", "%w", wrong)
			continue
		}
		out[i].Outcome, out[i].Err = st.against(obj)
		at := string(h.Kind) + "/" + h.Metadata.UID
		if other, taken := uids[at]; out[i].Err == nil && taken && other != h.Metadata.Name {
			out[i].Err = protocol.Errorf(protocol.CodeConflict, "import", "its uid is that of %s %q", h.Kind, other)
		}
		uids[at] = h.Metadata.Name
	}
}

// against compares an object with what has its name.
func (st *Sets) against(obj resource.Object) (Outcome, error) {
	h := obj.Head()
	old := st.core.shared(h.Kind, h.Metadata.Name)
	if old == nil {
		return Created, nil
	}
	if was := old.Head().Metadata.UID; was != h.Metadata.UID {
		return "", protocol.Errorf(protocol.CodeConflict, "import", "another one of this name is here, with uid %s", was).
			WithHint("delete it or leave it out of the import; nothing is ever replaced")
	}
	same, err := sameSpec(obj, old)
	if cfg, ok := obj.(*resource.BootConfiguration); ok && err == nil {
		mine := old.(*resource.BootConfiguration)
		same = mine.Spec.Owner.UID == cfg.Spec.Owner.UID && mine.Spec.Image.Digest == cfg.Spec.Image.Digest && mine.Installed() == cfg.Installed()
	}
	if rev, ok := obj.(*resource.GroupRevision); ok && err == nil {
		same = sameRevision(rev.Spec, old.(*resource.GroupRevision).Spec)
	}
	if err != nil || !same {
		return "", protocol.Errorf(protocol.CodeConflict, "import", "it is here with another spec: it was changed here or there since")
	}
	return Unchanged, nil
}

// judgeSet judges the objects against each other and the store, until no more fall out:
// what refers to one that is not taken is not taken either.
func (st *Sets) judgeSet(objs []resource.Object, out []Imported) (items []applyItem, at []int, closed []string) {
	for {
		items, at = nil, nil
		for i, obj := range objs {
			if out[i].Err == nil && out[i].Outcome == Created {
				items, at = append(items, applyItem{next: obj, outcome: Created}), append(at, i)
			}
		}
		c := newChecker(st, len(items))
		c.set(items)
		c.bound(items)
		c.histories(items)
		c.lost(items, objs, out)
		found := false
		for n, e := range c.errs {
			if len(e.FieldErrors) > 0 {
				out[at[n]].Err, found = protocol.Errorf(protocol.CodeInvalid, "import", "%w", e.FieldErrors), true
			}
		}
		if !found {
			return items, at, c.closed
		}
	}
}

// lost refuses what refers to something of the import that is not taken, also where
// something else of that name is stored.
func (c *checker) lost(items []applyItem, objs []resource.Object, out []Imported) {
	not := map[string]bool{}
	for i, obj := range objs {
		if out[i].Err != nil {
			not[keyOf(obj.Head().Kind, obj.Head().Metadata.Name)] = true
		}
	}
	for i, it := range items {
		var refs []resource.Reference
		if r, ok := it.next.(resource.Referrer); ok {
			refs = r.References()
		}
		switch o := it.next.(type) {
		case *resource.Claim:
			refs = append(refs, resource.Reference{Path: "status.server", Kind: resource.KindServer, Name: o.Status.Server})
		case *resource.BootConfiguration:
			refs = append(refs, resource.Reference{Path: "spec.server", Kind: resource.KindServer, Name: o.Spec.Server}, resource.Reference{Path: "spec.claim", Kind: resource.KindClaim, Name: o.Spec.Owner.Name})
		}
		for _, ref := range refs {
			if not[keyOf(ref.Kind, ref.Name)] {
				c.add(i, ref.Path, "%s %q of the import is not taken", ref.Kind, ref.Name)
			}
		}
	}
}

// bound checks what only imports bring: claims that have a server, configurations, and
// holds with an id.
func (c *checker) bound(items []applyItem) {
	claims, holder, holds := map[string]*resource.Claim{}, map[string]string{}, map[string]string{} // of the set
	holdKey := func(h *resource.Hold) string {
		return strings.Join([]string{h.Spec.Owner, h.Spec.Key, h.Spec.Server}, "\x00")
	}
	claimOf := func(server string) string {
		for _, cl := range Find(c.sets.objects, ClaimsByServer, server) {
			return cl.Metadata.Name
		}
		return ""
	}
	holdOf := func(h *resource.Hold) string {
		for _, other := range Referring[*resource.Hold](c.sets.objects, resource.KindServer, h.Spec.Server) {
			if holdKey(other) == holdKey(h) {
				return other.Metadata.Name
			}
		}
		return ""
	}
	racks := map[string]string{}
	bmcs := map[string]string{}
	for _, it := range items {
		switch o := it.next.(type) {
		case *resource.Claim:
			claims[o.Metadata.Name] = o
		case *resource.BMC:
			bmcs[o.Metadata.Name] = o.Spec.RackRef.Name
		}
	}
	for _, it := range items {
		if o, ok := it.next.(*resource.Server); ok {
			racks[o.Metadata.Name] = bmcs[o.Spec.BMCRef.Name]
		}
	}
	for i, it := range items {
		c.judge(&items[i])
		switch o := it.next.(type) {
		case *resource.Claim:
			server := o.Status.Server
			if server == "" {
				continue
			}
			if _, isNew := racks[server]; !isNew && c.stored(resource.KindServer, server) == nil {
				c.add(i, "status.server", "Server %q does not exist, neither in the hub nor in what is imported", server)
			}
			if ref := o.Spec.ServerRef; ref != nil && ref.Name != server {
				c.add(i, "status.server", "is %q, and the claim names %q", server, ref.Name)
			}
			if who := cmp.Or(holder[server], claimOf(server)); who != "" && who != o.Metadata.Name {
				c.add(i, "status.server", "server %q has claim %q", server, who)
			}
			holder[server] = o.Metadata.Name
		case *resource.BootConfiguration:
			cl := claims[o.Metadata.Name]
			if cl == nil {
				cl, _ = c.stored(resource.KindClaim, o.Metadata.Name).(*resource.Claim)
			}
			if cl == nil || cl.Metadata.UID != o.Spec.Owner.UID || cl.Status.Server != o.Spec.Server || o.Spec.Owner.Name != o.Metadata.Name {
				c.add(i, "spec.claimUID", "is not of a claim that is here or imported and has that server")
			}
		case *resource.Hold:
			if o.Spec.Owner == "" {
				c.add(i, "spec.owner", "a hold has an owner")
			}
			if other := cmp.Or(holds[holdKey(o)], holdOf(o)); other != "" && other != o.Metadata.Name {
				c.add(i, "spec.key", "hold %s of the same owner and key lies on the server", other)
			}
			holds[holdKey(o)] = o.Metadata.Name
			if o.Status.Rack = racks[o.Spec.Server]; o.Status.Rack == "" {
				if rack, err := c.sets.objects.RackOf(o.Spec.Server); err == nil {
					o.Status.Rack = rack
				}
			}
		}
	}
}
