package choice

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/where"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
	"rackboot/protocol/table"
)

// Choice is which resources of those that are named are meant. Its flags are read by Read.
type Choice struct {
	labels, fields string
	// Missing says that names that are not there are no error.
	Missing bool
	// Wanted are those that were named.
	Wanted []Wanted
}

// Flags adds the selectors to a command.
func (ch *Choice) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&ch.labels, "selector", "l", "", "only those with these labels, or whose racks have them: key=value, key!=value, key, !key, key in (a,b), key notin (a,b)")
	cmd.Flags().StringVar(&ch.fields, "field-selector", "", "only those with these fields: status.phase=Reserved, metadata.name!=n1")
}

// Read reads what was named and selected.
func (ch *Choice) Read(args []string) (err error) {
	if ch.Wanted, err = Targets(args); err != nil {
		return err
	}
	// The hub reads them too; what is wrong in them is said without it.
	if _, err = selector.Parse(ch.labels); err != nil {
		return err
	}
	for _, w := range ch.Wanted {
		if len(w.Names) > 0 && ch.Selects() {
			return protocol.Errorf(protocol.CodeInvalid, "", "a name and a selector were given").WithHint("give either")
		}
		if _, err = selector.ParseFields(ch.fields, w.Kind); err != nil {
			return err
		}
	}
	return nil
}

// Selects says whether there is a selector.
func (ch *Choice) Selects() bool { return ch.labels != "" || ch.fields != "" }

// Single is the one resource that is meant by its name, and nothing else.
func (ch *Choice) Single() bool {
	return len(ch.Wanted) == 1 && len(ch.Wanted[0].Names) == 1
}

// Chosen are resources of one kind.
type Chosen struct {
	Kind  resource.Kind
	Objs  []resource.Object
	Racks where.Racks
	Lacks *api.IncompleteError // nil where the list is whole
	// Columns and Rows are what a hub has made of them, which has tables; Objs are empty then.
	Columns []table.Column
	Rows    []table.Row
}

// Needed is what somebody needs of resources. The zero Needed is all of each.
type Needed struct {
	// Labelled says that labels of racks are shown.
	Labelled bool
	// Only are the fields that are needed, as [api.Query] has them.
	Only string
	// Table says that rows of a table do, with the wide columns where Wide is set. A hub without tables has resources.
	Table, Wide bool
}

// Fetch asks the hub for all. Names that are not there are joined in the error, beside those that are.
// placed says that racks and their labels are shown.
func (ch *Choice) Fetch(ctx context.Context, c *api.Client, placed bool) (out []Chosen, err error) {
	var missing []error
	for _, w := range ch.Wanted {
		got := Chosen{Kind: w.Kind}
		if len(w.Names) == 0 {
			if got, err = ch.all(ctx, c, w.Kind, placed); err != nil {
				return nil, err
			}
			out = append(out, got)
			continue
		}
		if placed && table.Racked(w.Kind) {
			if got.Racks, err = where.Load(ctx, c, w.Kind); err != nil {
				return nil, err
			}
		}
		for _, name := range w.Names {
			obj, err := c.Objects.Get(ctx, w.Kind, name)
			switch {
			case err == nil:
				got.Objs = append(got.Objs, obj)
			case protocol.CodeOf(err) != protocol.CodeNotFound:
				return nil, err
			case !ch.Missing:
				missing = append(missing, err)
			}
		}
		out = append(out, got)
	}
	return out, errors.Join(missing...)
}

// all are those of a kind that are selected.
func (ch *Choice) all(ctx context.Context, c *api.Client, kind resource.Kind, labelled bool) (out Chosen, err error) {
	out.Kind = kind
	if labelled {
		if out.Racks, err = where.Labelled(ctx, c); err != nil {
			return out, err
		}
	}
	for p, err := range ch.query(ctx, c, kind, Needed{}) {
		if err != nil {
			if out.Lacks, err = lacks(err); err != nil {
				return out, err
			}
			break
		}
		out.Objs = append(out.Objs, p.Objects...)
		out.Racks.Add(p)
	}
	return out, nil
}

// Pages asks the hub for those of a kind that are selected, page by page, in the order that people count
// in. What the list lacks comes behind the last, as a Chosen without resources. The first error ends it.
func (ch *Choice) Pages(ctx context.Context, c *api.Client, kind resource.Kind, needed Needed) iter.Seq2[Chosen, error] {
	return func(yield func(Chosen, error) bool) {
		var racks where.Racks
		if needed.Labelled {
			var err error
			if racks, err = where.Labelled(ctx, c); err != nil {
				yield(Chosen{}, err)
				return
			}
		}
		for p, err := range ch.query(ctx, c, kind, needed) {
			got := Chosen{Kind: kind, Objs: p.Objects, Racks: racks, Columns: p.Columns, Rows: p.Rows}
			if err != nil {
				got.Lacks, err = lacks(err)
			}
			got.Racks.Add(p)
			if !yield(got, err) {
				return
			}
		}
	}
}

// query asks for the pages of a kind.
func (ch *Choice) query(ctx context.Context, c *api.Client, kind resource.Kind, needed Needed) iter.Seq2[api.Page, error] {
	return c.Objects.Pages(ctx, kind, api.Query{Selector: ch.labels, Fields: ch.fields, Only: needed.Only, Table: needed.Table, Wide: needed.Wide})
}

// lacks is what a list lacks; every other error is one.
func lacks(err error) (*api.IncompleteError, error) {
	if lacks, ok := errors.AsType[*api.IncompleteError](err); ok {
		return lacks, nil
	}
	return nil, err
}

// Among takes those that are selected of resources that somebody has read, in the order that people count in, as the
// hub does. Read has named the kind before.
func (ch *Choice) Among(kind resource.Kind, all []resource.Object, racks where.Racks) (out []resource.Object, err error) {
	labels, err := selector.Parse(ch.labels)
	if err != nil {
		return nil, err
	}
	fields, err := selector.ParseFields(ch.fields, kind)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if !labels.Empty() && !labels.Matches(racks.Labels(o)) {
			continue
		}
		if len(fields) > 0 {
			plain, err := selector.Plain(o)
			if err != nil {
				return nil, protocol.Errorf(protocol.CodeInternal, "select", "%w", err)
			}
			if !fields.Matches(plain) {
				continue
			}
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b resource.Object) int {
		return natural.Compare(a.Head().Metadata.Name, b.Head().Metadata.Name)
	})
	return out, nil
}
