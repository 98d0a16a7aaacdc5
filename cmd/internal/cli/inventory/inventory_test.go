package inventory

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

var update = flag.Bool("update", false, "update the golden file")

func server(name string, change func(*resource.Server)) *resource.Server {
	s := &resource.Server{Spec: resource.ServerSpec{
		BMCRef: resource.Ref{Name: name + "-bmc"}, SegmentRef: resource.Ref{Name: "boot"}, BootMAC: "52:54:00:00:00:01", MACs: []string{"52:54:00:00:00:02"},
		UUID: "4c4c4544-0042-3510-8054-b7c04f435031", Params: map[string]any{"root-password": "canary-param"},
	}}
	s.Metadata = resource.Metadata{Name: name, Annotations: map[string]string{"note": "canary-annotation"}}
	if change != nil {
		change(s)
	}
	return s
}

// The form that Ansible reads, and no param or annotation in it.
func TestForm(t *testing.T) {
	inv := New([]Host{
		{Server: server("n2", nil), Rack: "r-1", Labels: map[string]string{"row": "7"}},
		{Server: server("n1", func(s *resource.Server) {
			s.Status = resource.ServerStatus{Phase: resource.PhaseReserved, Claim: "db-1", OS: "debian-12"}
		}), Rack: "r-1", Labels: map[string]string{"row": "7", "metal.example/Zone": "A 1"}, Reservations: []resource.Reservation{{Address: "192.0.2.7", MAC: "52-54-00-00-00-02"}}},
	})
	raw, err := json.MarshalIndent(inv, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/form.json", append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/form.json")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.TrimSpace(string(want)), string(raw)); d != "" {
		t.Error(d)
	}
	if strings.Contains(string(raw), "canary") || strings.Contains(string(raw), "bmc") {
		t.Errorf("a secret or a BMC is in it: %s", raw)
	}
	if _, ok := inv.Host("n3"); ok {
		t.Error("n3 is there")
	}
}

// The table of the comment, row by row.
func TestAddressTable(t *testing.T) {
	annotations := map[string]string{"good": "db-1.example", "bad": "-oProxyCommand=x"}
	reservations := map[string][]resource.Reservation{"one": {{Address: "192.0.2.9", MAC: "52:54:00:00:00:77"}, {Address: "192.0.2.7", UUID: "4C4C4544-0042-3510-8054-B7C04F435031"}}}
	shown := map[string]string{"db-1.example": "the annotation", "192.0.2.7": "the reservation", "": "none"}
	doctable.Of(t, "inventory.go", "address").HoldOne(t, [][]string{{"good", "bad", "none"}, {"one", "none"}}, func(in []string) string {
		h := Host{Server: server("n1", nil), Reservations: reservations[in[1]]}
		if a, given := annotations[in[0]]; given {
			h.Server.Metadata.Annotations[Annotation] = a
		}
		got, bad := address(h)
		if bad {
			return shown[got] + ", and bad"
		}
		return shown[got]
	})
	for text, want := range map[string]bool{"192.0.2.1": true, "2001:db8::1": true, "a": true, "a.b-c": true, "": false, "-a": false, "a-": false, "a b": false, "a..b": false, "$(x)": false, "{{x}}": false, strings.Repeat("a", 64): false} {
		if reachable(text) != want {
			t.Errorf("reachable(%q) is not %v", text, want)
		}
	}
}

// Any labels at all: group names are what Ansible takes, no group has a server without its label, and no variable is a
// template.
func TestAnyLabels(t *testing.T) {
	good := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	text := rapid.OneOf(rapid.StringMatching(`[ab._/-]{0,3}`), rapid.String(), rapid.Just("{{ lookup('pipe', 'x') }}"), rapid.Just("{%x%}"), rapid.Just("__ansible_vault"))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.MapOfN(text, text, 0, 4).Draw(t, "a"), rapid.MapOfN(text, text, 0, 4).Draw(t, "b")
		inv := New([]Host{{Server: server("a", nil), Labels: a, Rack: "r"}, {Server: server("b", nil), Labels: b}})
		both := 0
		for k, v := range a {
			if w, has := b[k]; has && v == w {
				both++
			}
		}
		found := 0
		for name, hosts := range inv.groups {
			if !good.MatchString(name) {
				t.Fatalf("the group %q", name)
			}
			if len(hosts) == 2 {
				found++
			}
		}
		if found != both {
			t.Fatalf("%d groups have both, and %d labels are of both", found, both)
		}
		raw, err := json.Marshal(inv)
		if err != nil {
			t.Fatal(err)
		}
		if templated(string(raw)) || strings.Contains(string(raw), `"__ansible_`) {
			t.Fatalf("%s", raw)
		}
	})
}
