package api

import (
	"encoding/json"
	"strings"

	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// ApplyRequest asks to write a set of resources: all are checked before any is
// written.
type ApplyRequest struct {
	Objects []json.RawMessage `json:"objects"`
	DryRun  bool              `json:"dryRun,omitempty"`
}

// ApplyAnswer says what became of each object, in the order of the request.
type ApplyAnswer struct {
	Results []ApplyResult `json:"results"`
}

// ApplyResult is what became of one object.
type ApplyResult struct {
	Kind       resource.Kind `json:"kind"`
	Name       string        `json:"name"`
	Outcome    string        `json:"outcome" doc:"created, configured or unchanged"`
	Generation uint64        `json:"generation"`
	Revision   uint64        `json:"revision"`
	// Reboots are what reboot annotations of metal3 came to, as far as something was to be done.
	Reboots []RebootResult `json:"reboots,omitempty"`
}

// RebootResult is what a reboot annotation came to.
type RebootResult struct {
	Annotation string `json:"annotation"`
	Outcome    string `json:"outcome" doc:"held, released or asked"`
	Server     string `json:"server"`
	// Hold or Request is the one that was placed, released or made; empty with dryRun.
	Hold    string `json:"hold,omitempty"`
	Request string `json:"request,omitempty"`
}

// List is all resources of a kind, sorted by name.
type List[T any] struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`  // ServerList
	Items      []T    `json:"items"` // empty where a table was asked for
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`

	// Next is where a page goes on: the query parameter after. A page without it is the last. One that has it
	// may be short, and even empty, where a selector leaves much out.
	Next string `json:"next,omitempty"`
	// Revision says of a page that it has all that was written up to this revision of the store, 0 for an
	// empty one; absent where no page was asked for.
	Revision *uint64 `json:"revision,omitempty"`
	// Racks are of a page the racks of the items, in their order, empty for no rack; absent where none is
	// in one.
	Racks []string `json:"racks,omitempty"`

	// Columns are the columns of the table that was asked for. Items and Racks are empty then.
	Columns []table.Column `json:"columns,omitempty"`
	// Rows have a cell for each column.
	Rows []table.Row `json:"rows,omitempty"`
}

// ItemKind is the kind of the items.
func (l List[T]) ItemKind() resource.Kind { return resource.Kind(strings.TrimSuffix(l.Kind, "List")) }

// Trim returns the list with each item as cut makes it of its JSON.
func (l List[T]) Trim(cut func([]byte) ([]byte, error)) (any, error) {
	out := List[json.RawMessage]{APIVersion: l.APIVersion, Kind: l.Kind, Items: make([]json.RawMessage, len(l.Items)), Incomplete: l.Incomplete, Next: l.Next, Revision: l.Revision, Racks: l.Racks}
	for i, item := range l.Items {
		raw, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		if out.Items[i], err = cut(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}
