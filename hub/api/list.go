package api

import (
	"context"
	"iter"
	"slices"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
	"rackboot/protocol/table"
)

// The bounds of one page. What a caller may not see is not counted, so that a cursor never names it; it
// costs a comparison of labels.
const (
	// mostLooked is how many resources that the caller may see are compared with a label selector.
	mostLooked = 10_000
	// mostShown is how many are copied and given their status, for the page or for a field selector.
	mostShown = protoapi.MaxPage
	// chunk is how many names are taken from the store at once, under its lock.
	chunk = 256
)

// listInput is the query of a list.
type listInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" doc:"at most so many, as a page in the order of names as people count, n2 before n10; all, in the order of their bytes, where it is absent"`
	After string `query:"after" maxLength:"512" doc:"next of the page before, with the same selector and field"`
	// Selectors are bounded in length: each of their parts is compared with each resource.
	Selector string `query:"selector" maxLength:"2048" doc:"only those with these labels, or whose racks have them: key=value, key!=value, key, !key, key in (a,b), key notin (a,b), joined by commas"`
	Only     string `query:"only" maxLength:"2048" doc:"only these fields of each resource, and its apiVersion, kind and name: paths joined by commas, such as metadata.labels,status.phase; a path through a list goes on in each of its elements"`
	Field    string `query:"field" maxLength:"2048" doc:"only those with these fields: path=value, path!=value, joined by commas"`
	As       string `query:"as" maxLength:"32" doc:"table: columns and rows in place of items; not with only"`
	Wide     bool   `query:"wide" doc:"of a table also the columns that are shown where there is much room"`
}

// selectors reads the selectors of a kind. The code is invalid.
func selectors(op string, kind resource.Kind, label, field string) (labels selector.Selector, fields selector.Fields, err error) {
	if labels, err = selector.Parse(label); err != nil {
		return labels, nil, protocol.Errorf(protocol.CodeInvalid, op, "selector: %w", err).WithHint("%s", protocol.HintOf(err))
	}
	if fields, err = selector.ParseFields(field, kind); err != nil {
		return labels, nil, protocol.Errorf(protocol.CodeInvalid, op, "field: %w", err).WithHint("%s", protocol.HintOf(err))
	}
	return labels, fields, nil
}

// listQuery is what was asked for, read.
type listQuery struct {
	limit  int // 0 is all
	cursor cursor
	labels selector.Selector
	fields selector.Fields
	only   selector.Only
	// table is the shape of the table that is wanted; nil where resources are.
	table *table.Shape
}

// query reads what is asked of a list. The code is invalid.
func (in *listInput) query(kind resource.Kind) (q listQuery, err error) {
	op := "list " + kind.Plural()
	q.limit, q.cursor = in.Limit, cursor{kind: kind, selector: in.Selector, fields: in.Field}
	if in.After != "" && in.Limit == 0 {
		return q, protocol.Errorf(protocol.CodeInvalid, op, "after was given without limit").WithHint("give limit too, from 1 to %d", protoapi.MaxPage)
	}
	if q.labels, q.fields, err = selectors(op, kind, in.Selector, in.Field); err != nil {
		return q, err
	}
	if q.only, err = selector.ParseOnly(in.Only, kind); err != nil { // route leaves the others away
		return q, protocol.Errorf(protocol.CodeInvalid, op, "only: %w", err).WithHint("%s", protocol.HintOf(err))
	}
	if q.table, err = in.shape(op, kind); err != nil {
		return q, err
	}
	q.cursor, err = q.cursor.at(in.After)
	return q, err
}

// shape is that of the table which is asked for; nil where none is. The code is invalid.
func (in *listInput) shape(op string, kind resource.Kind) (*table.Shape, error) {
	switch {
	case in.As != "" && in.As != protoapi.AsTable:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "as=%q is not %s", clip(in.As), protoapi.AsTable).WithHint("give as=table, or leave as out")
	case in.As == "" && in.Wide:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "wide was given without as=table").WithHint("give as=table too, or leave wide out")
	case in.As == "":
		return nil, nil
	case in.Only != "":
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "only and as=table were given: a table has its own columns").WithHint("give either; wide=true has more columns")
	}
	return new(table.New(kind, in.Wide, true)), nil
}

// lister makes the answer to one request for a list.
type lister[T resource.Object] struct {
	resources
	listQuery
	who   access.Caller
	world *route.World
	out   protoapi.List[T]
	// now is the time of the answer.
	now time.Time
	// looked and shown count towards the bounds of a page, and taken is how many are on it.
	looked, shown, taken int
}

// list answers with all that was asked for, or with a page of it. The codes are timeout and internal.
func list[T resource.Object](ctx context.Context, r resources, q listQuery) (protoapi.List[T], error) {
	kind := resource.KindOf[T]()
	l := lister[T]{resources: r, listQuery: q, who: route.Caller(ctx), world: route.NewWorld(r.store.Objects), now: r.clock()}
	l.out = protoapi.List[T]{APIVersion: resource.APIVersion, Kind: string(kind) + "List", Items: []T{}, Incomplete: r.lost.of(ctx, "res."+kind.Plural())}
	if q.table != nil {
		l.out.Columns = q.table.Columns()
	}
	if q.limit > 0 {
		at := r.store.Objects.Position()
		l.out.Revision = &at
	}
	for obj := range l.each(ctx) {
		if !l.sees(obj) {
			continue
		}
		if l.full() {
			l.out.Next = l.cursor.token()
			break
		}
		if err := l.take(obj); err != nil {
			return l.out, err
		}
	}
	if err := ctx.Err(); err != nil { // nobody waits any more, and it may have ended early
		return l.out, protocol.Errorf(protocol.CodeTimeout, "list "+kind.Plural(), "%w", err)
	}
	return l.out, nil
}

// each goes over what is stored, from the cursor on. It ends with ctx. Resources are shared.
func (l *lister[T]) each(ctx context.Context) iter.Seq[T] {
	kind := resource.KindOf[T]()
	next := func(at string, n int) []T { return store.After[T](l.store.Objects, at, n) }
	if some, few := l.store.Objects.Narrow(kind, l.labels.Selector); few {
		if l.limit == 0 {
			return slices.Values(typed[T](some.All()))
		}
		next = func(at string, n int) []T { return typed[T](some.After(at, n)) }
	}
	if l.limit == 0 {
		return slices.Values(store.List[T](l.store.Objects))
	}
	return func(yield func(T) bool) {
		for at := l.cursor.name; ctx.Err() == nil; {
			objs := next(at, chunk)
			for _, obj := range objs {
				if !yield(obj) {
					return
				}
			}
			if len(objs) < chunk {
				return
			}
			at = objs[chunk-1].Head().Metadata.Name
		}
	}
}

// typed are resources of one type.
func typed[T resource.Object](objs []resource.Object) []T {
	out := make([]T, len(objs))
	for i, o := range objs {
		out[i] = o.(T)
	}
	return out
}

// sees reports whether the caller may see a resource.
func (l *lister[T]) sees(obj resource.Object) bool {
	return l.who.Scope.Everywhere() || access.May(l.who, access.Read, access.Target{Places: access.Places(obj, l.world)}) == access.Allowed
}

// full reports whether the page takes no more.
func (l *lister[T]) full() bool {
	return l.limit > 0 && (l.taken >= l.limit || l.looked >= mostLooked || l.shown >= mostShown)
}

// take puts a resource into the answer, if it is selected. Labels are compared first: they need no copy.
func (l *lister[T]) take(stored T) error {
	l.cursor.name = stored.Head().Metadata.Name
	l.looked++
	if !l.labels.Empty() && !l.labels.Matches(selector.Labels(stored, l.rackLabels(stored))) {
		return nil
	}
	l.shown++
	obj := store.Copy(l.store.Objects, stored)
	if len(l.fields) > 0 || l.only.Wants("status") {
		l.status.Decorate(obj)
	}
	resource.ShowReboots(obj, l.who.Name)
	resource.Shorten(obj)
	if len(l.fields) > 0 {
		plain, err := selector.Plain(obj)
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, "select", "%w", err)
		}
		if !l.fields.Matches(plain) {
			return nil
		}
	}
	l.taken++
	if l.table != nil {
		l.out.Rows = append(l.out.Rows, l.table.Row(obj, l.now, l.rackName(stored)))
		return nil
	}
	l.out.Items = append(l.out.Items, obj)
	if l.limit > 0 {
		l.place(l.rackName(stored))
	}
	return nil
}

// rackName is the name of a resource's rack; empty where it is in none, or in one that the caller may not see.
func (l *lister[T]) rackName(obj T) string {
	name := selector.RackOf(obj, l)
	if l.rack(name) == nil {
		return ""
	}
	return name
}

// place notes the rack of the newest item. Racks are absent where no item is in one.
func (l *lister[T]) place(name string) {
	if name == "" && l.out.Racks == nil {
		return
	}
	for len(l.out.Racks) < len(l.out.Items)-1 {
		l.out.Racks = append(l.out.Racks, "")
	}
	l.out.Racks = append(l.out.Racks, name)
}

// SegmentRack implements selector.Site.
func (l *lister[T]) SegmentRack(segment string) string {
	if s := l.world.Segment(segment); s != nil {
		return s.Spec.RackRef.Name
	}
	return ""
}

// ServerSegment implements selector.Site.
func (l *lister[T]) ServerSegment(server string) string {
	if s := l.world.Server(server); s != nil {
		return s.Spec.SegmentRef.Name
	}
	return ""
}

// rackLabels are those of the rack of a resource.
func (l *lister[T]) rackLabels(obj T) map[string]string {
	if r := l.rack(selector.RackOf(obj, l)); r != nil {
		return r.Metadata.Labels
	}
	return nil
}

// rack is a rack that the caller may see; nil for any other, so that nobody finds its labels out by
// selectors.
func (l *lister[T]) rack(name string) *resource.Rack {
	r := l.world.Rack(name)
	if r == nil || !l.sees(r) {
		return nil
	}
	return r
}
