package top

import (
	"slices"
	"strings"
	"testing"
)

func TestOrders(t *testing.T) {
	all := serverRows(fleet(), noon())
	names := func(rows []row) (out []string) {
		for _, r := range rows {
			out = append(out, strings.TrimPrefix(r.name, "worker-"))
		}
		return out
	}
	for _, row := range []struct {
		filter, rack string
		order        order
		want         string
	}{
		{"", "", worstFirst, "5 7 10 6 2 4 1 3 11"},
		{"", "", byName, "1 2 3 4 5 6 7 10 11"},
		{"", "", byRack, "5 7 10 2 4 1 3 6 11"},
		{"", "", longestWait, "2 7 1 3 4 5 6 10 11"},
		{"", "rack-2", byName, "1 2 3 4 5 7 10"},
		{"rack-1", "", byName, "6 11"},
		{"WORKER-1", "", byName, "1 10 11"},
		{"bmcunreach", "", byName, "10"},
		{"rack-10  dark", "", byName, "6"},
		{"error", "", byName, "10"},
		{"c-worker-7", "", byName, "7"},
		{"nothing like that", "", byName, ""},
	} {
		if got := strings.Join(names(among(all, row.filter, row.rack, row.order)), " "); got != row.want {
			t.Errorf("%q in rack %q %s: %s, want %s", row.filter, row.rack, row.order, got, row.want)
		}
	}
	racks := among(rackRows(fleet(), noon()), "", "", worstFirst)
	if got := []string{racks[0].name, racks[1].name, racks[2].name}; !slices.Equal(got, []string{"rack-10", "rack-11", "rack-2"}) {
		t.Errorf("racks %q", got)
	}
	for o := range orders {
		if o.String() == "" {
			t.Errorf("order %d has no name", o)
		}
	}
}
