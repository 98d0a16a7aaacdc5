package kinds

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Each kind has a row, whose columns begin with NAME and have no name twice. A list without
// anything has them too.
func TestEveryKindHasARow(t *testing.T) {
	for _, k := range resource.Kinds() {
		o := resource.NewObject(k)
		o.Head().Metadata.Name = "x1"
		v := Table(k, []resource.Object{o}, time.Now())
		var names []string
		for _, c := range v.Columns {
			if slices.Contains(names, c.Name) {
				t.Errorf("%s has %s twice", k, c.Name)
			}
			names = append(names, c.Name)
		}
		if len(names) != len(v.Items[0].Cells) || len(names) == 0 || names[0] != "NAME" || v.Items[0].Cells[0] != "x1" {
			t.Errorf("%s: %q has %q", k, names, v.Items[0].Cells)
		}
		if none := Table(k, nil, time.Now()); !slices.Equal(none.Columns, v.Columns) {
			t.Errorf("%s without any: %v", k, none.Columns)
		}
	}
}
