package group

import (
	"strings"
	"testing"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A return without a number says which revision it took, and which it passed over.
func TestRevertText(t *testing.T) {
	g := &resource.ServerGroup{}
	g.Metadata.Name = "workers"
	g.Default()
	out := api.GroupAnswer{Group: g, Revision: 5, CopyOf: 1, Skipped: []int{2, 3}}
	for _, row := range []struct {
		number int
		want   string
	}{
		{0, "group workers: revision 5 is a copy of 1, the last verified one with another image\nNot taken, because the group rejects their entries: 2, 3.\n"},
		{1, "group workers: revision 5 is a copy of 1\n"},
	} {
		if row.number != 0 {
			out.Skipped = nil
		}
		if got := revertText(&printer.Printer{}, out, row.number, false); !strings.HasPrefix(got, row.want) {
			t.Errorf("%d: %s", row.number, got)
		}
	}
}
