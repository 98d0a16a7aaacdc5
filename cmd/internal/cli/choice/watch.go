package choice

import (
	"context"
	"iter"
	"slices"

	"rackboot/protocol/api"
)

// Watch tells what there is of what was named or selected, of one kind, and then what changes; see
// [api.Objects.Watch]. only are the fields that are needed, as [api.Query] has them.
func (ch *Choice) Watch(ctx context.Context, c *api.Client, w Wanted, only string) iter.Seq2[api.Change, error] {
	q := api.Query{Selector: ch.labels, Fields: ch.fields, Only: only}
	if len(w.Names) == 1 {
		q.Fields = "metadata.name=" + w.Names[0]
	}
	all := c.Objects.Watch(ctx, w.Kind, q)
	if len(w.Names) < 2 {
		return all
	}
	return func(yield func(api.Change, error) bool) {
		for change, err := range all {
			if change.Name != "" && !slices.Contains(w.Names, change.Name) {
				continue
			}
			if !yield(change, err) {
				return
			}
		}
	}
}
