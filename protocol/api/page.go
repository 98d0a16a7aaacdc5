package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// How many resources are asked for at once where nobody says. The first page is a small one, so that
// somebody sees something soon.
const (
	firstSize = 100
	pageSize  = 500
)

// Query is which resources of a kind are listed. The zero Query is all.
type Query struct {
	// Selector is what labels must be, those of the rack counted too, and Fields what fields must be, as
	// kubectl's -l and --field-selector have it. See package selector.
	Selector, Fields string
	// Only are paths of fields, joined by commas, that the resources have: status.phase,metadata.labels. All
	// others are as if they were not set, but for apiVersion, kind and name. Empty is all; a hub that does not know it gives all.
	// A watch tells of no change besides them.
	Only string
	// Table asks for rows of a table in place of resources, with the wide columns where Wide is set, and not with Only. A
	// hub that knows no tables gives resources all the same. It is of no watch.
	Table, Wide bool
	// Limit is how many a page has at most, up to [MaxPage]; 0 is 100 of the first and 500 of the others.
	Limit int
}

// Page is some of the resources of a kind. It has one at least, as an object or as a row.
type Page struct {
	Objects []resource.Object
	// Columns and Rows are the page as a table, where one was asked for and the hub has it. There is no object then, and
	// each row has a cell for each column.
	Columns []table.Column
	Rows    []table.Row
	// Racks are the racks of the objects, in their order; empty for one that is in none, or in a rack that
	// the caller may not see. Nil where none is in one. A hub that knows no pages does not say.
	Racks []string
}

// Pages reads the resources of a kind page by page, in the order of their names as people count: n2 before
// n10. What is there throughout is shown once; what comes or goes meanwhile is shown once or not at all. The
// hub keeps nothing between two pages, so they go on where it was started anew. The first error ends it; an
// [IncompleteError] comes behind the last page. Each page has the time that any call has.
//
// A hub that knows no pages answers with all of them as one page, sorted by the bytes of the names; asked
// to select it is an error of code unsupported, as it would show all.
func (o Objects) Pages(ctx context.Context, kind resource.Kind, q Query) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		var lacks *Incomplete
		for after := ""; ; {
			p, err := o.page(ctx, kind, q, after)
			if err != nil {
				yield(Page{}, err)
				return
			}
			if p.list.Incomplete != nil {
				lacks = p.list.Incomplete
			}
			if len(p.objs)+len(p.list.Rows) > 0 && !yield(Page{p.objs, p.list.Columns, p.list.Rows, p.list.Racks}, nil) {
				return
			}
			if after = p.list.Next; after == "" {
				break
			}
		}
		if err := lacks.Err("list " + kind.Plural()); err != nil {
			yield(Page{}, err)
		}
	}
}

// page asks for one page. A page that does not go on would have a caller go round for ever.
func (o Objects) page(ctx context.Context, kind resource.Kind, q Query, after string) (p page, err error) {
	if _, err := blank(kind); err != nil {
		return p, err
	}
	limit := q.Limit
	switch {
	case limit > 0:
	case after == "":
		limit = firstSize
	default:
		limit = pageSize
	}
	v := url.Values{QueryLimit: {strconv.Itoa(limit)}}
	for key, value := range map[string]string{QueryAfter: after, QuerySelector: q.Selector, QueryField: q.Fields, QueryOnly: q.Only} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if q.Table {
		v.Set(QueryAs, AsTable)
		if q.Wide {
			v.Set(QueryWide, "true")
		}
	}
	p.kind = kind
	op := "list " + kind.Plural()
	switch err = o.hub.call(ctx, http.MethodGet, PathKind(kind)+"?"+v.Encode(), nil, &p); {
	case err != nil:
	case p.list.Revision == nil && q.Selector+q.Fields+after != "": // it has answered with everything
		err = protocol.Errorf(protocol.CodeUnsupported, op, "the hub is of a version that knows neither pages nor selectors").
			WithHint("give hub and rackctl the same version; compare them with rackctl version")
	case p.list.Next != "" && p.list.Next == after, len(p.list.Racks) > len(p.objs):
		err = protocol.Errorf(protocol.CodeInternal, op, "the hub's page does not fit the one before")
	case slices.ContainsFunc(p.list.Rows, func(r table.Row) bool { return len(r.Cells) != len(p.list.Columns) }):
		err = protocol.Errorf(protocol.CodeInternal, op, "the hub's table has a row that does not fit its columns")
	}
	return p, err
}

// page is an answer with a page, which is read item by item: it is never there as a text and as
// resources at once.
type page struct {
	kind resource.Kind
	objs []resource.Object
	list List[struct{}] // all but the items
}

// read implements streamed.
func (p *page) read(r io.Reader) error {
	*p = page{kind: p.kind}
	d := json.NewDecoder(r)
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "items":
			err = p.items(d)
		case "next":
			err = d.Decode(&p.list.Next)
		case "revision":
			err = d.Decode(&p.list.Revision)
		case "racks":
			err = d.Decode(&p.list.Racks)
		case "columns":
			err = d.Decode(&p.list.Columns)
		case "rows":
			err = d.Decode(&p.list.Rows)
		case "incomplete":
			err = d.Decode(&p.list.Incomplete)
		default: // of a newer hub, or said by the kind already
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", key, err)
		}
	}
	if err := delimiter(d, '}'); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is something behind it")
	}
	return nil
}

func (p *page) items(d *json.Decoder) error {
	if err := delimiter(d, '['); err != nil {
		return err
	}
	for d.More() {
		obj := resource.NewObject(p.kind)
		if err := d.Decode(obj); err != nil {
			return fmt.Errorf("item %d: %w", len(p.objs), err)
		}
		p.objs = append(p.objs, obj)
	}
	return delimiter(d, ']')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%v is not %v", got, want)
	}
	return err
}
