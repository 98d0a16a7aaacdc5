package table

import (
	"iter"
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// row makes the columns of one resource.
type row func(o resource.Object, now time.Time) []filled

// kinds has a row for each kind of resource. A new one is a row here, and a new column a line in its function.
func kinds() map[resource.Kind]row {
	return map[resource.Kind]row{
		resource.KindServer:            of(server),
		resource.KindClaim:             of(claim),
		resource.KindHold:              of(hold),
		resource.KindMaintenance:       of(maintenance),
		resource.KindRack:              of(rack),
		resource.KindAgent:             of(agent),
		resource.KindSegment:           of(segment),
		resource.KindBMC:               of(bmc),
		resource.KindSecret:            of(secret),
		resource.KindBootEnv:           of(bootEnv),
		resource.KindTemplate:          of(template),
		resource.KindProfile:           of(profile),
		resource.KindFirmwareProfile:   of(firmwareProfile),
		resource.KindFreeze:            of(freeze),
		resource.KindParam:             of(param),
		resource.KindBootConfiguration: of(bootConfiguration),
		resource.KindBootImage:         of(bootImage),
		resource.KindServerGroup:       of(group),
		resource.KindGroupRevision:     of(revision),
		resource.KindManagedBootImages: of(managed),
		resource.KindAgentUpgrade:      of(upgrade),
	}
}

// of makes a row of a function for one type of resource.
func of[T resource.Object](columns func(T, time.Time) []filled) row {
	return func(o resource.Object, now time.Time) []filled { return columns(o.(T), now) }
}

// Racked says whether resources of the kind are in a rack that none of their fields names.
func Racked(of resource.Kind) bool {
	return slices.Contains([]resource.Kind{resource.KindServer, resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindBootConfiguration}, of)
}

// Shape is which columns a table of one kind has. It does not change.
type Shape struct {
	kind         resource.Kind
	wide, placed bool
	row          row
	columns      []Column
}

// New is the shape of a table; wide has the wide columns too, and placed the rack of each resource. The kind is one that there is.
func New(kind resource.Kind, wide, placed bool) Shape {
	s := Shape{kind: kind, wide: wide, placed: placed && Racked(kind), row: kinds()[kind]}
	for c := range s.each(resource.NewObject(kind), time.Time{}, "") { // the columns are the same of all
		s.columns = append(s.columns, c.Column)
	}
	return s
}

// Columns are those of the table.
func (s Shape) Columns() []Column { return slices.Clone(s.columns) }

// Row is a resource of the kind in the table. now says which conditions have lasted long enough to be shown, and rack is
// where the resource is. The row shares what is in the resource.
func (s Shape) Row(o resource.Object, now time.Time, rack string) Row {
	out := Row{Ref: resource.Ref{Name: o.Head().Metadata.Name}, Cells: make([]Cell, 0, len(s.columns))}
	for c := range s.each(o, now, rack) {
		out.Cells = append(out.Cells, c.cell)
	}
	return out
}

// each goes over the columns of the kind, with the age of the resource, which every table has, and its rack.
func (s Shape) each(o resource.Object, now time.Time, rack string) iter.Seq[filled] {
	const in = "The rack that it is in."
	all := s.row(o, now)
	if !slices.ContainsFunc(all, func(c filled) bool { return c.Name == "AGE" }) {
		at := slices.IndexFunc(all, func(c filled) bool { return c.Wide })
		if at < 0 {
			at = len(all)
		}
		all = slices.Insert(all, at, age(o))
	}
	return func(yield func(filled) bool) {
		for i, c := range all {
			if i == 1 && s.placed && s.kind == resource.KindServer && !yield(column("RACK", in, text(rack))) {
				return
			}
			if (s.wide || !c.Wide) && !yield(c) {
				return
			}
		}
		if s.placed && s.wide && s.kind != resource.KindServer {
			yield(wide("RACK", in, text(rack)))
		}
	}
}
