package plan

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// tableOf reads the rows of a file's comment table, which has the given first row.
func tableOf(t *testing.T, file string, head ...string) (rows [][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if strings.Contains(line, "|") {
				var cells []string
				for cell := range strings.SplitSeq(line, "|") {
					cells = append(cells, strings.TrimSpace(cell))
				}
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) < 2 || !slices.Equal(rows[0], head) {
		t.Fatalf("the table has another shape: %v", rows)
	}
	return rows[1:]
}

// rowOf is what the first row that fits says beyond the inputs.
func rowOf(t *testing.T, rows [][]string, in ...string) []string {
	t.Helper()
	i := slices.IndexFunc(rows, func(r []string) bool {
		for c, v := range in {
			if r[c] != "*" && r[c] != v {
				return false
			}
		}
		return true
	})
	if i < 0 {
		t.Fatalf("no row for %v", in)
	}
	return rows[i][len(in):]
}

// TestBindTable compares the table above Bind with its rule for every row and
// every combination of inputs.
func TestBindTable(t *testing.T) {
	rows := tableOf(t, "bind.go", "by", "taken", "held", "comes", "discovered", "read", "binds")
	for _, by := range []string{"name", "selector"} {
		for _, taken := range []string{"yes", "no"} {
			for _, held := range []string{"yes", "no"} {
				for _, comes := range []string{"yes", "no"} {
					for n := range 4 {
						discovered, read := []string{"yes", "no"}[n%2], []string{"Off", "else"}[n/2]
						got := "no"
						if binds(by == "name", taken == "yes", held == "yes", comes == "yes", discovered == "yes", read == "Off") {
							got = "yes"
						}
						if want := rowOf(t, rows, by, taken, held, comes, discovered, read)[0]; got != want {
							t.Errorf("%s, taken %s, held %s, comes %s, discovered %s, read %s: %s, the table says %s", by, taken, held, comes, discovered, read, got, want)
						}
					}
				}
			}
		}
	}
}

// By name and by selector, a server that the first boot does not come to gets no claim,
// and the reason says which and what to use in its place.
func TestBindWhatComes(t *testing.T) {
	f := makeFleet(1, 2)
	f.Reports = map[string]*resource.ServerReport{}
	for _, s := range f.Servers {
		s.Metadata.Labels = map[string]string{"x": "y"}
		s.Spec.Reach = resource.ReachVMedia
		f.Reports[s.Metadata.Name] = &resource.ServerReport{Observation: protocol.Observation{Power: protocol.PowerOff}}
	}
	first := f.Servers[0].Metadata.Name
	by := func(name string, ref *resource.Ref, boot resource.FirstBoot) *resource.Claim {
		c := named(&resource.Claim{}, name)
		if c.Spec.BootPolicy.FirstBoot = boot; ref != nil {
			c.Spec.ServerRef = ref
			return c
		}
		c.Spec.ServerSelector = &resource.Selector{MatchLabels: map[string]string{"x": "y"}}
		return c
	}
	f.Wanting = []*resource.Claim{by("a", &resource.Ref{Name: first}, resource.FirstBootPxe), by("b", nil, resource.FirstBootUefiHTTP)}
	bindings, unbound := Bind(f)
	if len(bindings) != 0 || len(unbound) != 2 || !strings.Contains(unbound[0].Reason, "server "+first+" has reach vmedia") ||
		!strings.Contains(unbound[1].Reason, "2 servers match, and UefiHttp comes to none of them") || !strings.Contains(unbound[1].Reason, "use VirtualMedia") {
		t.Errorf("%+v, %+v", bindings, unbound)
	}
	f.Wanting = []*resource.Claim{by("a", &resource.Ref{Name: first}, resource.FirstBootVirtualMedia), by("b", nil, resource.FirstBootVirtualMedia)}
	f.Servers[1].Spec.Reach = ""
	if bindings, unbound := Bind(f); len(bindings) != 2 || len(unbound) != 0 {
		t.Errorf("%+v, %+v", bindings, unbound)
	}
}
